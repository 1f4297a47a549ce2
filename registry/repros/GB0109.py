"""`.tolist()` on a tensor of floats asks for Python numbers in the middle
of the graph. Dynamo can only do that for integers."""
import torch

GRADIENT = {
    "fixed_differentiable": "A gradient reaches `line`. `tolist` gives numbers,"
    " so in your program none does."
}


def inputs():
    return torch.randn(8), torch.randn(2)


def broken(x, line):
    slope, offset = line.tolist()
    return slope * x + offset


def fixed(x, line):
    """Use this when the numbers go back into tensor arithmetic. `unbind` gives
    tensors. `detach` makes them constants for gradients, as the numbers
    are."""
    slope, offset = line.detach().unbind()
    return slope * x + offset


def fixed_differentiable(x, line):
    """Use this when you want to train `line`, too. Call `unbind` without
    `detach`: then `line` gets a gradient."""
    slope, offset = line.unbind()
    return slope * x + offset
