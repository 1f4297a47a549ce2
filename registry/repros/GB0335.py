"""`hints_wrapper` was given its hints by position. Dynamo wants them as the
keyword `hints`."""
import torch
from torch._higher_order_ops.hints_wrap import hints_wrapper

REACH = "private"
COMPILE = {"backend": "eager"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return hints_wrapper(torch.sin, (x,), {}, {"fuse": True})


def fixed(x):
    """Use this when a backend of your own reads the hints. Pass them as the
    keyword `hints`. Inductor can't compile this operator."""
    return hints_wrapper(torch.sin, (x,), {}, hints={"fuse": True})
