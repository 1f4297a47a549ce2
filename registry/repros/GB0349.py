"""The body of a `while_loop` returns an object of a registered opaque class
that asks to be traced as it is. Dynamo compares what the body returns with
what went into the loop, and it can only do that for tensors and constants."""
import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"


class Handle(OpaqueBase):
    def tracing_mode(self):
        return "real"


register_opaque_type(Handle, typ="reference")
handle = Handle()


def inputs():
    return (torch.randn(4),)


def broken(x):
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: x.sum() < 9, lambda x: (x + 1, handle), (x,))


def fixed(x):
    """Use this when the loop never changes the object. Carry only the tensors
    through the loop."""
    loop = torch._higher_order_ops.while_loop
    (x,) = loop(lambda x: x.sum() < 9, lambda x: (x + 1,), (x,))
    return x, handle
