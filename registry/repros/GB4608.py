"""Two exceptions are compared with `==`, which asks whether both are the same
object. Both are made inside the compiled function, and for such objects Dynamo
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
    """Use this when you ask whether both are the same object. Compare the
    `id`s: Dynamo can tell those apart. If you mean the text, compare
    `args`."""
    first, second = ValueError("low"), ValueError("high")
    return x.sin() if id(first) == id(second) else x.cos()
