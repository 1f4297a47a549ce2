"""One row was taken out of a nested tensor of the older, strided kind. It is
an ordinary tensor, but a view of the nested one, and Dynamo can't take
that."""
import torch

NESTED = torch.nested.nested_tensor([torch.arange(2.0), torch.arange(3.0)])
ROW = NESTED.unbind()[0]
COPY = ROW.clone()


def inputs():
    return (torch.randn(2),)


def broken(x):
    return x * ROW


def fixed(x):
    """Use this when you take the row out before the compiled function runs.
    Copy it there: the copy is not a view."""
    return x * COPY
