"""The operator that runs a module lowered by ExecuTorch was called with a
keyword argument. It takes its arguments by position only."""
import torch
from torch._higher_order_ops.executorch_call_delegate import (
    executorch_call_delegate,
)

REACH = "private"
COMPILE = {"backend": "eager"}
EAGER_RAISES = "TypeError"


class Program:
    def module(self):
        return torch.nn.Sigmoid()


class LoweredBackendModule(torch.nn.Module):
    original_module = Program()


lowered = LoweredBackendModule()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return executorch_call_delegate(lowered, input=x)


def fixed(x):
    """Use this when you call a module that ExecuTorch lowered. Pass the inputs
    by position. Inductor can't compile this operator."""
    return executorch_call_delegate(lowered, x)
