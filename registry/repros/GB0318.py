"""The function that combines two elements of a scan returns an empty list, so
the scan has nothing to continue with."""
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
    """Use this when you scan a list of tensors. Let the combining function
    return one tensor for each tensor in the list."""
    return associative_scan(
        lambda a, b: [torch.maximum(a[0], b[0])], [x], 0, combine_mode="generic"
    )
