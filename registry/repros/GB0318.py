"""The function that combines two elements of a scan returns an empty list, so
there is nothing to go on with."""
import torch
from torch._higher_order_ops import associative_scan

REACH = "private"
EAGER_RAISES = "IndexError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    scan = torch.ops.higher_order.associative_scan
    return scan(lambda a, b: [], [x], ())


def fixed(x):
    """Return one tensor for each tensor that is scanned."""
    return associative_scan(
        lambda a, b: [torch.maximum(a[0], b[0])], [x], 0, combine_mode="generic"
    )
