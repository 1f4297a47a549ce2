"""`.tolist()` on a tensor of floats asks for Python numbers in the middle
of the graph. Dynamo can only do that for integers."""
import torch


def inputs():
    return torch.randn(8), torch.randn(2)


def broken(x, line):
    slope, offset = line.tolist()
    return slope * x + offset


def fixed(x, line):
    """The numbers go back into tensor arithmetic: `unbind` gives tensors."""
    slope, offset = line.unbind()
    return slope * x + offset
