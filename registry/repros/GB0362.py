"""The compiled function reads an attribute of an opaque object, one that
custom operators take. Dynamo doesn't look inside such an object, and raises an
error even where breaks are allowed."""
import torch
from torch._library.opaque_object import get_opaque_type_name
from torch._library.opaque_object import register_opaque_type

REACH = "private"
REQUIRES = {"release": ">=2.10,<2.11"}


class Table:
    def __init__(self, scale):
        self.scale = scale


register_opaque_type(Table, typ="reference")
TABLE = Table(2.0)

name = get_opaque_type_name(Table)
torch.library.define("gb0362::scaled", f"(Tensor x, {name} table) -> Tensor")
torch.library.impl("gb0362::scaled", "CompositeExplicitAutograd")(
    lambda x, table: x * table.scale
)
torch.library.register_fake("gb0362::scaled")(lambda x, table: torch.empty_like(x))


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * TABLE.scale


def fixed(x):
    """Use this when you need what is inside the object. Read it in a custom
    operator, which gets the object itself."""
    return torch.ops.gb0362.scaled(x, TABLE)
