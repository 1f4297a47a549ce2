"""A part is cut out of a text that `str.format` makes from a size that can
change. Dynamo waits for the size before it makes the text, so there are no
characters to cut yet."""
import torch

TITLE = "A text from a dynamic size"
REQUIRES = {"release": ">=2.12"}
LIMITS = {
    "fixed": {"size": "It always gives two digits: sizes must have three."}
}
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(100, 400, ()))),)


def broken(x):
    return x.sin(), "{}".format(len(x))[1:]


def fixed(x):
    """Use this when you can choose the digits before you make the text. Do it
    with numbers."""
    return x.sin(), "{:02d}".format(len(x) % 100)


def fixed_constant(x):
    """Use this when there are only a few sizes. An f-string makes the size a
    constant, so each new size costs a compilation."""
    return x.sin(), f"{len(x)}"[1:]
