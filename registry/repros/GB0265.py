"""A method of a C++ object is called. While Dynamo traces, it calls a stand-in
class written in Python that lacks the method, and this is an error even where
breaks are allowed. (The C++ classes are from torch's own tests.)"""
from pathlib import Path

import torch
from torch._library import register_fake_class

TITLE = "A class without a method"
REACH = "private"
LIBRARY = Path(torch.__file__).parent / "lib" / "libtorchbind_test.so"
torch.classes.load_library(LIBRARY)
testing = torch.classes._TorchScriptTesting


@register_fake_class("_TorchScriptTesting::_ContainsTensor")
class Incomplete:
    def __init__(self, t):
        self.t = t

    @classmethod
    def __obj_unflatten__(cls, state):
        return cls(**dict(state))


@register_fake_class("_TorchScriptTesting::_FlattenWithTensorOp")
class Complete:
    def __init__(self, t):
        self.t = t

    @classmethod
    def __obj_unflatten__(cls, state):
        return cls(**dict(state))

    def get(self):
        return self.t


INCOMPLETE = testing._ContainsTensor(torch.ones(4))
COMPLETE = testing._FlattenWithTensorOp(torch.ones(4))


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x + INCOMPLETE.get()


def fixed(x):
    """Use this when you can change the stand-in class. Write the method there,
    too. It gets tensors without data, and has to return one of the right
    shape."""
    return x + COMPLETE.get()
