"""`repr` of a tensor shows its values. While Dynamo traces there are no
values yet, so it can't make that text."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    message = f"expected a vector, got {repr(x)}"
    assert x.dim() == 1, message
    return x.sin()


def fixed(x):
    """The text needs the values: make it only once the check has failed."""
    assert x.dim() == 1, f"expected a vector, got {repr(x)}"
    return x.sin()


def fixed_shape(x):
    """Shape and type say enough: Dynamo knows both while it traces."""
    message = f"expected a vector, got {x.dtype} of shape {tuple(x.shape)}"
    assert x.dim() == 1, message
    return x.sin()
