"""The program assigns a tensor of another shape to `.data` of a parameter. The
backward graph is built for the old shape, so Dynamo doesn't trace this."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}


def score(weight):
    return weight.sin().sum()


def inputs():
    return torch.nn.Parameter(torch.randn(4)), torch.randn(2)


def broken(weight, new):
    weight.data = torch.cat([weight.data, new])
    return weight.sin().sum()


@skip
def fixed(weight, new):
    """Use this when a parameter grows from time to time. Assign to `.data` in
    the caller, between two compiled calls. `skip` stands for a caller that
    you don't compile."""
    weight.data = torch.cat([weight.data, new])
    return score(weight)
