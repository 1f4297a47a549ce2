"""`bytearray()` gets a length that Dynamo treats as dynamic, or numbers from a
tensor. To build the array, Dynamo must know them while tracing."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}
COMPILE = {"dynamic": True}


def spread(x):
    return x / x.norm()


def inputs():
    return (torch.randn(int(torch.randint(4, 9, ()))),)


def broken(x):
    seen = bytearray(len(x))
    return x / x.norm(), seen


@skip
def fixed(x):
    """Use this when only Python code uses the array. Make it in the caller.
    `skip` stands for a caller that you don't compile."""
    return spread(x), bytearray(len(x))


def fixed_list(x):
    """Use this when the length has few values. Make the array from a list.
    Dynamo makes the length of a list a constant, so each length costs a
    compilation."""
    seen = bytearray([0] * len(x))
    return x / x.norm(), seen
