"""The program reads a plain attribute of a C++ object. Dynamo follows only
calls of its methods, so this is an error even where breaks are allowed. (The
C++ class is from torch's own tests.)"""
from pathlib import Path

import torch
from torch._library import register_fake_class

REACH = "private"
LIBRARY = Path(torch.__file__).parent / "lib" / "libtorchbind_test.so"
torch.classes.load_library(LIBRARY)


@register_fake_class("_TorchScriptTesting::_Foo")
class FakeFoo:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @classmethod
    def __obj_unflatten__(cls, state):
        return cls(**dict(state))


FOO = torch.classes._TorchScriptTesting._Foo(1, 2)
FROM_TORCH = FOO.__module__.startswith("torch")


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x.sin() if FOO.__module__.startswith("torch") else x


def fixed(x):
    """Use this when the attribute never changes. Read it once, outside the
    compiled function."""
    return x.sin() if FROM_TORCH else x
