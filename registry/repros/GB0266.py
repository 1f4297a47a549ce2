"""An operator, here `[]`, is applied to a C++ object. Dynamo follows only
named methods there, and raises an error even where breaks are allowed. (The
class is from torch's tests; it has no `[]`, and the program allows for
that.)"""
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
HAS_ITEMS = FOO._has_method("__getitem__")


def inputs():
    return (torch.randn(4),)


def broken(x):
    try:
        scale = FOO[0]
    except NotImplementedError:
        scale = 3
    return x * scale


def fixed(x):
    """Use this when you don't know which methods the object has. Find out
    once, outside the compiled function."""
    scale = FOO[0] if HAS_ITEMS else 3
    return x * scale
