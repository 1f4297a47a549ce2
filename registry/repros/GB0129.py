"""`sparse_resize_` changes the shape of a sparse tensor. Dynamo never traces
it, not even where the call only finds out that the tensor is dense."""
import torch
from torch.nn.functional import pad


def inputs():
    return (torch.randn(3),)


def broken(x):
    try:
        x.sparse_resize_((5,), 1, 0)
    except NotImplementedError:
        x = pad(x, (0, 2))
    return x.sin()


def fixed(x):
    """Use this when some of your tensors are sparse and some are dense. Check
    `is_sparse` first. Dense tensors then get a whole graph; Dynamo still
    leaves sparse ones to Python."""
    if x.is_sparse:
        x.sparse_resize_((5,), 1, 0)
    else:
        x = pad(x, (0, 2))
    return x.sin()
