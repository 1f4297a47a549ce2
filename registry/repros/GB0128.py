"""`set_` makes a tensor use the memory of another tensor, with an offset and
strides. Dynamo traces only the call that takes over a whole tensor."""
import torch

GRADIENT = {
    "fixed_slice": "A gradient reaches `x`. `set_` takes only the memory, so in"
    " your program none does."
}
LIMITS = {
    "fixed": {
        "size": "If `x` has fewer than 7 elements, `set_` makes its memory larger. "
        "Here that is an error."
    },
    "fixed_slice": {
        "size": "If `x` has fewer than 7 elements, `set_` makes its memory larger. "
        "A slice takes what is there."
    },
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    window = x.new_empty(0)
    window.set_(x, 2, (3,), (2,))
    return window.sin()


def fixed(x):
    """Use this when you have an offset and strides. `as_strided` gives the
    same view. No gradient flows through `set_`, and `detach` keeps it that
    way."""
    window = x.detach().as_strided((3,), (2,), 2)
    return window.sin()


def fixed_slice(x):
    """Use this when the elements are evenly spaced and you want gradients. A
    slice is easy to read, and the gradient flows through it. If you want no
    gradient, slice `x.detach()`."""
    window = x[2:7:2]
    return window.sin()
