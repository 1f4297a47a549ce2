"""`torch._dynamo.step_unsupported()` is a debugging aid. It asks Dynamo to
behave as at an instruction it can't resume from: it compiles what came before,
and runs the rest of the function as ordinary Python."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.sin()
    z = y.cos()
    torch._dynamo.step_unsupported()
    return z.exp()


def fixed(x):
    """Use this when you have finished debugging. Remove the call."""
    y = x.sin()
    z = y.cos()
    return z.exp()
