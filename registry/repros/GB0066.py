"""A graph break happens inside a `with` block of your own context manager
class. Dynamo would have to leave the block and enter it again around the
break. It does that only for context managers that it knows, so it gives up on
the function."""
import torch

GRADIENT = {
    "fixed_differentiable": "The gradient also flows through the peak. `item`"
    " gives a number, so in your program it ends there."
}


class Section:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def inputs():
    return (torch.randn(8),)


def broken(x):
    with Section():
        peak = x.abs().max().item()
        x = x / peak
    return x.cos()


def fixed(x):
    """Use this when the number should stay a constant for gradients. Remove
    the break inside the block; Dynamo reports that one, too. Here a tensor can
    replace the number. `detach` keeps it a constant, as `item` does."""
    with Section():
        peak = x.abs().max().detach()
        x = x / peak
    return x.cos()


def fixed_differentiable(x):
    """Use this when the gradient should flow through the peak, too. Use the
    tensor without `detach`."""
    with Section():
        peak = x.abs().max()
        x = x / peak
    return x.cos()
