"""A function keeps a value in an attribute of its own. Dynamo tracks such
assignments for ordinary objects, but not for plain functions."""
import torch

EFFECTS = {
    "fixed": "The value is in the global `last_shape`, and no longer in an"
    " attribute.",
    "fixed_object": "The value is in `scale_object.last` then. There is no "
    "function `scale` any more that could have the attribute."
}


def inputs():
    return (torch.randn(8),)


def scale(x):
    scale.last = x.shape
    return x * 2


def broken(x):
    return scale(x).sin()


last_shape = None


def scale_and_note(x):
    global last_shape
    last_shape = x.shape
    return x * 2


def fixed(x):
    """Use this when one value for the whole program is enough. Keep it in a
    global."""
    return scale_and_note(x).sin()


class Scale:
    def __call__(self, x):
        self.last = x.shape
        return x * 2


scale_object = Scale()


def fixed_object(x):
    """Use this when the value belongs to the function. Turn the function into
    an object with `__call__`."""
    return scale_object(x).sin()
