"""The function waits for the GPU with `torch.cuda.synchronize`, mostly to
measure time."""
import torch
from torch._dynamo.decorators import skip

TITLE = "torch.cuda.synchronize()"
REQUIRES = {"device": "cuda"}


def encode(x):
    return x.sin()


def decode(hidden):
    return hidden.cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    hidden = x.sin()
    torch.cuda.synchronize()
    return hidden.cos()


@skip
def fixed(x):
    """Use this when you measure. Wait between two compiled functions, in a
    caller that you don't compile (`skip` stands for that). If you don't
    measure, delete the call: torch waits where it has to."""
    hidden = encode(x)
    torch.cuda.synchronize()
    return decode(hidden)
