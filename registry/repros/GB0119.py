"""The module's `__init__` never called `super().__init__()`, so it has none of
the state that makes it an `nn.Module`. Dynamo won't trace such a module."""
import torch


class Plain(torch.nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return x.sin()


class Initialised(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.sin()


plain, initialised = Plain(), Initialised()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return plain.forward(x) + 1


def fixed(x):
    """Use this when you can edit the module's `__init__`. Call
    `super().__init__()` first. Without it, `plain(x)` fails anyway."""
    return initialised(x) + 1
