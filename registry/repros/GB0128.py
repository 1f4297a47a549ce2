"""`set_` makes a tensor look at memory of another one, with an offset and
strides. Dynamo traces only the call that takes over a whole tensor."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    window = x.new_empty(0)
    window.set_(x, 2, (3,), (2,))
    return window.sin()


def fixed(x):
    """You have an offset and strides: `as_strided` gives the same view."""
    window = x.as_strided((3,), (2,), 2)
    return window.sin()


def fixed_slice(x):
    """The elements lie evenly: a slice says it so that others can read it."""
    window = x[2:7:2]
    return window.sin()
