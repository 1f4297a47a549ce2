"""The exported model turns its input around in place with `transpose_`. AOTAutograd
does not export a change of an input's shape or strides."""
import torch
from torch._functorch.aot_autograd import aot_export_module


class InPlace(torch.nn.Module):
    def forward(self, x):
        x.transpose_(0, 1)
        return (x + 1,)


class OutOfPlace(torch.nn.Module):
    def forward(self, x):
        return (x.transpose(0, 1) + 1,)


def message():
    aot_export_module(InPlace(), (torch.ones(2, 3),), trace_joint=False)


def fixed():
    """Use this when the caller does not need the changed input: work on a view of it."""
    graph, _ = aot_export_module(OutOfPlace(), (torch.ones(2, 3),), trace_joint=False)
    return graph(torch.ones(2, 3))[0]


def eager():
    return InPlace()(torch.ones(2, 3))[0]
