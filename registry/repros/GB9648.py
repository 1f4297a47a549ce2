"""`==` compares a text with one that `str.format` makes from a size that can
change. Dynamo waits for the size before it makes the text, so it has nothing
to compare yet."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(6, 3 * int(torch.randint(1, 3, ()))),)


def broken(x):
    name = "{}x{}".format(*x.shape)
    return x.sin() if name == "6x3" else x.cos()


def fixed(x):
    """Use this when you ask for a size. Compare the shape instead of the
    text."""
    return x.sin() if x.shape == (6, 3) else x.cos()


def fixed_constant(x):
    """Use this when you need the text and there are only a few sizes. An
    f-string makes the sizes constants, so each new size costs a
    compilation."""
    name = f"{x.shape[0]}x{x.shape[1]}"
    return x.sin() if name == "6x3" else x.cos()
