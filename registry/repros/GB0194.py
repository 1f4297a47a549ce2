"""`isinstance` is asked about an object that says it is a member descriptor,
the C object behind a name in `__slots__`. For those Dynamo doesn't answer."""
import types

import torch

REACH = "contrived"
NEIGHBOUR = "GB0150"


class Column:
    __class__ = types.MemberDescriptorType


def inputs():
    return (torch.randn(8),)


def broken(x):
    column = Column()
    return x.sin() if isinstance(column, property) else x.cos()


def fixed(x):
    """Use this when the real class of the object is what matters. Ask about
    its type, with `issubclass`."""
    column = Column()
    return x.sin() if issubclass(type(column), property) else x.cos()
