"""The example inputs of an export are in a list. They must be in a tuple."""
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def message():
    torch.export.export(Model(), [torch.ones(4)])


def fixed():
    """Use this when the model takes positional arguments: write a tuple, `(x,)` for one."""
    return torch.export.export(Model(), (torch.ones(4),)).module()(torch.ones(4))


def eager():
    return torch.ones(4) * 2
