"""A Python number was handed to the scan operator as an extra input of each
step. Dynamo takes only tensors there."""
import torch
from torch._higher_order_ops import associative_scan

REACH = "private"
LIMITS = {
    "fixed": {
        "size": "Of a single row, this gives a copy. The operator gives the input"
        " itself."
    }
}


def inputs():
    return (torch.randn(8),)


def combine(a, b, limit):
    return [torch.maximum(a, b).clamp(max=limit)]


def broken(x):
    return torch.ops.higher_order.associative_scan(combine, [x], (1,))


def fixed(x):
    """Use this when the number is the same in each step. Write it into the
    function. In `generic` mode, the documented wrapper also runs on the
    CPU."""
    return associative_scan(
        lambda a, b: combine(a[0], b[0], 1), [x], 0, combine_mode="generic"
    )
