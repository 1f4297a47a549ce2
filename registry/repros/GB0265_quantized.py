"""Packed weights of a quantized layer are a C++ object. Its stand-in for
tracing lacks a method that the code calls. (A packed object can't be traced at
all without `__obj_flatten__`, so the program adds that first.)"""
import torch
from torch._library import register_fake_class

TITLE = "Quantized weights"
REACH = "private"
REQUIRES = {"device": "cpu"}
torch.backends.quantized.engine = "qnnpack"
torch.ScriptObject.__obj_flatten__ = lambda packed: (("b", packed.bias()),)


@register_fake_class("quantized::LinearPackedParamsBase")
class Incomplete:
    @classmethod
    def __obj_unflatten__(cls, state):
        return cls()


WEIGHT = torch.quantize_per_tensor(torch.eye(4), 1.0, 0, torch.qint8)
PACKED = torch.ops.quantized.linear_prepack(WEIGHT, torch.ones(4))
BIAS = PACKED.bias()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x + PACKED.bias()


def fixed(x):
    """Use this when the value never changes. Call the method once, outside the
    compiled function. If you can change the stand-in class, write the method
    there instead."""
    return x + BIAS
