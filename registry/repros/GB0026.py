"""A tensor subclass is made from a list. Dynamo follows the constructor that
it inherits from `torch.Tensor` only when the one argument is a tensor."""
import torch

REQUIRES = {"device": "cpu"}


class Weights(torch.Tensor):
    pass


def inputs():
    return (torch.randn(3),)


def broken(x):
    return Weights([0.5, 0.4, 0.1]) * x


def fixed(x):
    """Use this when the class inherits its constructor from `torch.Tensor`.
    Make a tensor first, then the subclass from it."""
    return Weights(torch.tensor([0.5, 0.4, 0.1])) * x


def fixed_view(x):
    """Use this when the class has its own constructor with other arguments.
    Call `as_subclass`, which doesn't call that constructor."""
    return torch.tensor([0.5, 0.4, 0.1]).as_subclass(Weights) * x
