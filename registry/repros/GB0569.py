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
    """Use this when the text needs the values. Write it inside the `assert`:
    it is then made only after the check has failed."""
    assert x.dim() == 1, f"expected a vector, got {repr(x)}"
    return x.sin()


def fixed_shape(x):
    """Use this when the shape and the dtype say enough. Put those into the
    text: Dynamo knows both while it traces."""
    message = f"expected a vector, got {x.dtype} of shape {tuple(x.shape)}"
    assert x.dim() == 1, message
    return x.sin()
