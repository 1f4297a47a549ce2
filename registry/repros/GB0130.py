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
    """Use this when the tensor must be emptied and keep its shape. `zero_`
    does that for sparse and dense tensors."""
    before = x.sin()
    x.zero_()
    return before


def fixed_ask(x):
    """Use this when sparse tensors need a new shape as well. Check `is_sparse`
    first. Dense tensors then get a whole graph; Dynamo still leaves sparse
    ones to Python."""
    before = x.sin()
    if x.is_sparse:
        x.sparse_resize_and_clear_(x.shape, 1, 0)
    else:
        x.zero_()
    return before
