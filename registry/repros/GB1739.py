"""A method of an opaque class, one whose objects custom operators take, was
registered with a string and not with a `MemberType`. Dynamo doesn't know the
string, and raises an error even where breaks are allowed."""
import torch
from torch._library.opaque_object import MemberType, register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"
REQUIRES = {"release": ">=2.11,<2.12"}


class Table(OpaqueBase):
    def __init__(self, **scales):
        self.scales = scales

    def __getitem__(self, name):
        return self.scales[name]


class TypedTable(Table):
    pass


members = {"__getitem__": "use_real"}
register_opaque_type(Table, typ="reference", members=members)
typed = {"__getitem__": MemberType.USE_REAL}
register_opaque_type(TypedTable, typ="reference", members=typed)
TABLE = Table(low=0.5, high=2.0)
TYPED_TABLE = TypedTable(low=0.5, high=2.0)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * TABLE["high"]


def fixed(x):
    """Use this when Dynamo may run the method while it traces. Register it
    with `MemberType.USE_REAL`: the result is then a constant."""
    return x * TYPED_TABLE["high"]
