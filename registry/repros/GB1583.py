"""`isinstance` asks whether a context manager of torch has certain attributes,
through a `Protocol` that lists them. Dynamo has no real object to look at, and
a class alone can't answer."""
from typing import Protocol, runtime_checkable

import torch

REACH = "contrived"
NEIGHBOUR = "GB2736"
REQUIRES = {"release": ">=2.15"}


@runtime_checkable
class HasDtype(Protocol):
    fast_dtype: torch.dtype


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    mode = torch.autocast(x.device.type, torch.bfloat16)
    with mode:
        y = x @ x
    return y.float() if isinstance(mode, HasDtype) else y


def fixed(x):
    """Use this when you know the class that has the attribute. Name the class
    instead of the protocol."""
    mode = torch.autocast(x.device.type, torch.bfloat16)
    with mode:
        y = x @ x
    return y.float() if isinstance(mode, torch.autocast) else y
