"""An `import` inside the function gives an object that is not a module,
because a package put a stand-in into `sys.modules`. Dynamo accepts nothing
but modules there."""
import sys

import torch


class Lazy:
    def __getattr__(self, name):
        return getattr(torch, name)


sys.modules["gb0022_lazy"] = Lazy()

import gb0022_lazy as lazy


def inputs():
    return (torch.randn(8),)


def broken(x):
    import gb0022_lazy

    return gb0022_lazy.sin(x)


def fixed(x):
    """Use this when the import can move to the top of the file. Dynamo then
    sees a plain global."""
    return lazy.sin(x)
