"""`in` looks for a part of a text that `str.format` makes from a size that can
change. Dynamo waits for the size before it makes the text, so it can't search
in it."""
import torch

TITLE = "A text from a dynamic size"
REQUIRES = {"release": ">=2.13"}
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(6, 3 * int(torch.randint(1, 3, ()))),)


def broken(x):
    name = "{}x{}".format(*x.shape)
    return x.sin() if "x3" in name else x.cos()


def fixed(x):
    """Use this when you ask for a size. Ask the shape instead of the text."""
    return x.sin() if x.shape[1] == 3 else x.cos()


def fixed_constant(x):
    """Use this when you need the text and there are only a few sizes. An
    f-string makes the sizes constants, so each new size costs a
    compilation."""
    name = f"{x.shape[0]}x{x.shape[1]}"
    return x.sin() if "x3" in name else x.cos()
