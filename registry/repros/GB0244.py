"""The module creates a parameter each time it is called, and is exported with
Dynamo (`torch.export.export` does that with `strict=True`). Dynamo doesn't
create parameters during export."""
import torch

REACH = "private"
EAGER_RAISES = "Unsupported"


class Broken(torch.nn.Module):
    def forward(self, x):
        return x * torch.nn.Parameter(torch.ones(8))


class Fixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.weight


exported = torch._dynamo.export(Fixed())(torch.ones(8)).graph_module


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch._dynamo.export(Broken())(x).graph_module(x)


def fixed(x):
    """Use this when all calls can use the same parameter. Create it in
    `__init__`. The code here runs the graph that was exported from such a
    module."""
    return exported(x)
