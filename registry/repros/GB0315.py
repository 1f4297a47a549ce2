"""The tensors to scan were handed to the operator in a deque. Dynamo takes a
list or a tuple there."""
import collections

import torch
from torch._higher_order_ops import associative_scan

REACH = "private"
LIMITS = {
    "fixed": {
        "size": "Of a single row, this gives a copy. The operator gives the input"
        " itself.",
        "zero": "Of equal elements, others get the gradient.",
    }
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    (y,) = torch.ops.higher_order.associative_scan(
        lambda a, b: [torch.maximum(a, b)], collections.deque([x]), ()
    )
    return y


def fixed(x):
    """Use this when you scan one tensor, or tensors in any kind of container.
    Call the documented wrapper: it takes both. A single tensor needs no
    container."""
    return associative_scan(torch.maximum, x, 0, combine_mode="generic")
