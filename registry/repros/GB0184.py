"""An object hides its special methods: asked for `__str__` or `__repr__` it
says that there are none. Python looks in the class and finds them, but Dynamo
asks the object."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0005"


class Label:
    def __getattribute__(self, name):
        if name in ("__str__", "__repr__"):
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __str__(self):
        return "large"


LABEL = Label()
SCALES = {"small": 1.0, "large": 2.0}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[str(LABEL)]


def fixed(x):
    """Use this when you can't change the class. Do what Python does: look up
    `__str__` on the class, and call it with the object."""
    return x * SCALES[type(LABEL).__str__(LABEL)]


LABEL_TEXT = str(LABEL)


def fixed_outside(x):
    """Use this when the object doesn't change. Make the text once, outside the
    compiled function."""
    return x * SCALES[LABEL_TEXT]
