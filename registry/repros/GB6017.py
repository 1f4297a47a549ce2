"""The operator that runs a module lowered by ExecuTorch was given an object
that is no `nn.Module`. Dynamo can only put a module into the graph."""
import torch
from torch._higher_order_ops.executorch_call_delegate import (
    executorch_call_delegate,
)

REACH = "private"
COMPILE = {"backend": "eager"}


class Program:
    def module(self):
        return torch.nn.Sigmoid()


class Lowered:
    original_module = Program()


class LoweredBackendModule(torch.nn.Module):
    original_module = Program()


plain, module = Lowered(), LoweredBackendModule()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return executorch_call_delegate(plain, x)


def fixed(x):
    """Use this when the class of the object is your own. Derive it from
    `nn.Module`, as ExecuTorch does for its own. Inductor can't compile this
    operator."""
    return executorch_call_delegate(module, x)
