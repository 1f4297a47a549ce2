"""The key of a dict is of a kind that Dynamo has no hash for: here a custom
autograd function. Methods of tensors and context managers are others."""
import torch

REQUIRES = {"release": ">=2.10,<2.13"}


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


STEPS = {Round: 0.5}
STEPS_BY_NAME = {function.__name__: step for function, step in STEPS.items()}


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    step = STEPS[Round]
    return Round.apply(x / step) * step


def fixed(x):
    """Use this when each function has a name that you know. Make the name the
    key: Dynamo knows the hash of a string."""
    step = STEPS_BY_NAME["Round"]
    return Round.apply(x / step) * step


def quantize(function, x, step):
    return function.apply(x / step) * step


ROUND_STEP = STEPS[Round]


def fixed_outside(x):
    """Use this when the key doesn't change between calls. Look the value up
    before you compile."""
    return quantize(Round, x, ROUND_STEP)
