"""A method of an opaque object (one that Dynamo doesn't look into) returns
another one. It was registered to run while Dynamo traces, so the source of the
result is unknown to Dynamo: an error even where breaks are allowed."""
import torch
from torch._library.opaque_object import MemberType, register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Table(OpaqueBase):
    def __init__(self, scale, parent=None):
        self.scale = scale
        self.parent = parent

    def get_parent(self):
        return self.parent


class TracedTable(Table):
    pass


real, inlined = MemberType.USE_REAL, MemberType.INLINED
members = {"scale": real, "get_parent": real}
register_opaque_type(Table, typ="reference", members=members)
members = {"scale": real, "get_parent": inlined, "parent": inlined}
register_opaque_type(TracedTable, typ="reference", members=members)
TABLE = Table(2.0, Table(3.0))
TRACED_TABLE = TracedTable(2.0, TracedTable(3.0))


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * TABLE.get_parent().scale


def fixed(x):
    """Use this when the method returns another opaque object. Register it as
    `INLINED`: Dynamo traces it and sees the path from one object to the
    other."""
    return x * TRACED_TABLE.get_parent().scale
