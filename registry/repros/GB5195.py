"""The program asks which dtype an operation would have. One argument is a size
that Dynamo keeps symbolic, since shapes are dynamic here, and it has no rule
for symbolic numbers in this function."""
import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes

REACH = "private"
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randint(9, (8,)),)


def broken(x):
    size = x.shape[0]
    _, dtype = elementwise_dtypes(
        x, size, type_promotion_kind=KIND.INT_TO_FLOAT
    )
    return x.to(dtype) / size


def fixed(x):
    """Use this when you only ask for the dtype. It depends on the type of a
    number, not on its value, so any integer gives the same answer."""
    size = x.shape[0]
    _, dtype = elementwise_dtypes(x, 1, type_promotion_kind=KIND.INT_TO_FLOAT)
    return x.to(dtype) / size
