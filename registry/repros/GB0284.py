"""`step_unsupported()` is a debugging aid that asks Dynamo to give up here,
and `fullgraph=True` forbids giving up."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    x = x.cos()
    torch._dynamo.step_unsupported()
    return x.exp()


def fixed(x):
    """Use this when you are done debugging. Remove the call."""
    x = x.sin()
    x = x.cos()
    return x.exp()
