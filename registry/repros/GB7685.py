"""The program asks an opaque class, one whose objects custom operators take,
for an attribute it doesn't have. Python would raise AttributeError, which the
program expects; Dynamo ends the graph instead."""
import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Table(OpaqueBase):
    pass


class DefaultTable(OpaqueBase):
    scale = None


register_opaque_type(Table, typ="reference")
register_opaque_type(DefaultTable, typ="reference")


def inputs():
    return (torch.randn(4),)


def broken(x):
    try:
        return x * Table.scale
    except AttributeError:
        return x.sin()


def fixed(x):
    """Use this when the attribute is optional. Give the class a default for
    it."""
    if DefaultTable.scale is not None:
        return x * DefaultTable.scale
    return x.sin()
