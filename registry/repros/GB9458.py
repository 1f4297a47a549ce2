"""A text is made with `str.format` from a size that can change. Dynamo waits
for the size before it makes the text, and has no rule for repeating it."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(4, 12, ()))),)


def broken(x):
    return x.sin(), "{};".format(len(x)) * 3


def fixed(x):
    """Use this when you know how often the text repeats. Repeat it in the
    pattern, before `format` fills in the size."""
    return x.sin(), ("{0};" * 3).format(len(x))


def fixed_constant(x):
    """Use this when there are only a few sizes. An f-string makes the size a
    constant, so each new size costs a compilation."""
    return x.sin(), f"{len(x)};" * 3
