"""`bytes()` gets numbers that come from a tensor. Dynamo must know the numbers
to build the bytes, and while tracing there are none."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}


def next_letters(codes):
    return (codes + 1) % 128


def inputs():
    return (torch.randint(0, 128, (8,)),)


def broken(codes):
    codes = (codes + 1) % 128
    return bytes(codes.tolist())


@skip
def fixed(codes):
    """Use this when the bytes leave the model. Return the tensor, and build
    the bytes in the caller. `skip` stands for a caller that you don't
    compile."""
    return bytes(next_letters(codes).tolist())
