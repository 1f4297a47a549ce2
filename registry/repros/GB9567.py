"""An attribute of an opaque class, one whose objects custom operators take, is
computed by a descriptor written in Python. Dynamo reads plain attributes and
the descriptors that come with Python."""
import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Computed:
    def __get__(self, instance, owner):
        return owner.base * 2


class Table(OpaqueBase):
    base = 1.5
    scale = Computed()


class PlainTable(OpaqueBase):
    base = 1.5
    scale = base * 2


register_opaque_type(Table, typ="reference")
register_opaque_type(PlainTable, typ="reference")


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * Table.scale


def fixed(x):
    """Use this when the value never changes. Compute it where you define the
    class."""
    return x * PlainTable.scale
