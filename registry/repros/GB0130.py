"""`sparse_resize_and_clear_` empties a sparse tensor. Dynamo never traces it,
not even where the call only finds out that the tensor is dense."""
import torch


def inputs():
    return (torch.randn(3),)


def broken(x):
    before = x.sin()
    try:
        x.sparse_resize_and_clear_(x.shape, 1, 0)
    except NotImplementedError:
        x.zero_()
    return before


def fixed(x):
    """You want it empty and keep the shape: `zero_` does that for both."""
    before = x.sin()
    x.zero_()
    return before


def fixed_ask(x):
    """Sparse tensors need another shape as well: ask first. Dense ones then
    have a whole graph. Sparse ones Dynamo leaves to Python as before."""
    before = x.sin()
    if x.is_sparse:
        x.sparse_resize_and_clear_(x.shape, 1, 0)
    else:
        x.zero_()
    return before
