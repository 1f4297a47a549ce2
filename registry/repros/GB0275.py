"""`step_unsupported()` is a debugging aid: Dynamo keeps the graph up to an
earlier point and leaves the rest to Python. Nothing was recorded before this
call, so there is no such point, and Dynamo skips the whole function."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._dynamo.step_unsupported()
    return x.exp()


def fixed(x):
    """Use this when you are done debugging. Remove the call."""
    return x.exp()
