"""Two exceptions are compared with `==`, which for exceptions means: is it the
same object? Both are made inside the compiled function, and for those Dynamo
can't tell."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0135"


def inputs():
    return (torch.randn(8),)


def broken(x):
    first, second = ValueError("low"), ValueError("high")
    return x.sin() if first == second else x.cos()


def fixed(x):
    """You want to know whether it is the same object: compare the `id`s, those
    Dynamo can tell apart. If you mean the text, compare `args`."""
    first, second = ValueError("low"), ValueError("high")
    return x.sin() if id(first) == id(second) else x.cos()
