"""The model calls torch.compile in its forward, and the model is exported.
Export needs the operations, not compiled code, so torch.compile does nothing."""

import torch


def double(x):
    return x * 2


class CompilesInside(torch.nn.Module):
    def forward(self, x):
        return torch.compile(double, backend="eager")(x)


class Plain(torch.nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            return double(x)
        return torch.compile(double, backend="eager")(x)


def message():
    torch.export.export(CompilesInside(), (torch.ones(4),))


def fixed():
    """Use this when the model must work in both worlds: do not call torch.compile during an export."""
    return torch.export.export(Plain(), (torch.ones(4),)).module()(torch.ones(4))


def eager():
    return double(torch.ones(4))
