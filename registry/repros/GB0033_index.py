"""A tensor with one integer is used as an index, as in `x[x.argmax()]`. Eager
reads the integer and makes a view, and the view's place depends on it."""
import torch

TITLE = "x[i] with a tensor i"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(4, 3),)


def broken(x):
    best = x.sum(dim=1).argmax()
    return x[best].exp()


def fixed(x):
    """Use this when you don't write into the row. `index_select` copies it,
    inside the graph."""
    best = x.sum(dim=1).argmax()
    return x.index_select(0, best.view(1)).squeeze(0).exp()


def fixed_flag(x):
    """Use this when you need the view itself. Set `capture_scalar_outputs`,
    and read the integer with `.item()`."""
    best = x.sum(dim=1).argmax()
    return x[best.item()].exp()
