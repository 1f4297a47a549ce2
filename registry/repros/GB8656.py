"""A method of an opaque object, one that custom operators take, should run
while Dynamo traces, and the class has a `__getattr__`. Dynamo refuses, and
raises an error even where breaks are allowed."""
import torch
from torch._library.opaque_object import MemberType, register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Table(OpaqueBase):
    def __init__(self, scale):
        self.values = {"scale": scale}

    def scale(self):
        return self.values["scale"]


class OldTable(Table):
    def __getattr__(self, name):
        if name in self.values:
            return self.values[name]
        raise AttributeError(name)


members = {"scale": MemberType.USE_REAL}
register_opaque_type(Table, typ="reference", members=members)
register_opaque_type(OldTable, typ="reference", members=members)
TABLE, OLD_TABLE = Table(2.0), OldTable(2.0)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * OLD_TABLE.scale()


def fixed(x):
    """Use this when you know the attributes beforehand. Write them as methods
    and attributes, and do without `__getattr__`."""
    return x * TABLE.scale()
