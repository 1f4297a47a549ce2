"""The program reads an attribute of an opaque object, one that custom
operators take. Dynamo reads only attributes that were named when the class was
registered. It raises an error even where breaks are allowed."""
import torch
from torch._library.opaque_object import MemberType, register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Table(OpaqueBase):
    def __init__(self, scale):
        self.scale = scale


class OpenTable(Table):
    pass


members = {"scale": MemberType.USE_REAL}
register_opaque_type(Table, typ="reference")
register_opaque_type(OpenTable, typ="reference", members=members)
TABLE, OPEN_TABLE = Table(2.0), OpenTable(2.0)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * TABLE.scale


def fixed(x):
    """Use this when the value of the attribute stays the same. Name the
    attribute when you register the class. With `USE_REAL`, Dynamo takes its
    value as a constant."""
    return x * OPEN_TABLE.scale
