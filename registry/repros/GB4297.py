"""`torch._dynamo.skip_frame()` asks Dynamo not to compile this function.
Dynamo obeys, and the whole function runs as ordinary Python."""
import torch

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._dynamo.skip_frame()
    return x.sin()


def fixed(x):
    """Use this when the call is left over from debugging. Remove it."""
    return x.sin()
