"""The extra tensors of a scan were handed to the operator as a named tuple.
Dynamo takes a plain tuple or list there."""
from typing import NamedTuple

import torch
from torch._higher_order_ops import associative_scan

TITLE = "A named tuple"
REACH = "private"
LIMITS = {
    "fixed": {
        "size": "For some lengths, such as 8, the `generic` mode raises an"
        " IndexError."
    }
}


class Extra(NamedTuple):
    limit: torch.Tensor


def inputs():
    return torch.randn(7), torch.rand(())


def combine(a, b, limit):
    return [torch.maximum(a, b).minimum(limit)]


def broken(x, limit):
    scan = torch.ops.higher_order.associative_scan
    return scan(combine, [x], Extra(limit))


def fixed(x, limit):
    """Use this when the combining function needs extra tensors. Call the
    documented wrapper: the function just uses the tensors it sees, and you
    pass nothing extra."""
    return associative_scan(
        lambda a, b: combine(a[0], b[0], limit), [x], 0, combine_mode="generic"
    )
