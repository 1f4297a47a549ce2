"""An opaque object, one that custom operators take, is made inside the
compiled function. A graph can use such an object but not make one, because
Dynamo doesn't look inside it."""
import torch
from torch._library.opaque_object import MemberType, register_opaque_type
from torch._opaque_base import OpaqueBase

REACH = "private"


class Table(OpaqueBase):
    def __init__(self, scale):
        self.scale = scale


members = {"scale": MemberType.USE_REAL}
register_opaque_type(Table, typ="reference", members=members)
TABLE = Table(2.0)


def inputs():
    return (torch.randn(4),)


def broken(x):
    table = Table(2.0)
    return x * table.scale


def fixed(x):
    """Use this when all calls can share one object. Create it once, outside,
    and use it as a global or pass it in."""
    return x * TABLE.scale
