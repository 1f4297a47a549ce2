"""The setter of `Tensor.data` is called by hand, as classes do that have their
own `data`. Dynamo has rules for writing the attributes of a tensor, but not
for calling their setters."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0058"
REQUIRES = {"release": ">=2.15"}


def inputs():
    return (torch.randn(8),)


def broken(weight):
    torch.Tensor.data.__set__(weight, weight.clamp(-1, 1))
    return weight * 2


def fixed(weight):
    """Use this when the tensor's class has no `data` of its own. Then a plain
    assignment does the same."""
    weight.data = weight.clamp(-1, 1)
    return weight * 2
