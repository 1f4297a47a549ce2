"""The program assigns a tensor of another shape to `.data` of a parameter. The
backward graph is built for the old shape, so Dynamo doesn't trace this."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}

WEIGHT = torch.nn.Parameter(torch.zeros(4))


def score(weight):
    return weight.sin().sum()


def inputs():
    WEIGHT.data = torch.randn(4)
    return (torch.randn(2),)


def broken(new):
    WEIGHT.data = torch.cat([WEIGHT.data, new])
    return WEIGHT.sin().sum()


@skip
def fixed(new):
    """Use this when a parameter grows from time to time. Assign to `.data` in
    the caller, between two compiled calls. `skip` stands for a caller that
    you don't compile."""
    WEIGHT.data = torch.cat([WEIGHT.data, new])
    return score(WEIGHT)
