"""`~` is used on a size that can change from call to call. Dynamo keeps such a
size as a symbol, and has no rule for inverting the bits of a symbol."""
import torch

REQUIRES = {"release": ">=2.14"}
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(4, 12, ()))),)


def broken(x):
    steps = torch.arange(len(x))
    return x * steps, ~len(x)


def fixed(x):
    """Use this when you need the number itself. For integers, `~n` is the same
    as `-n - 1`, and Dynamo can trace that."""
    steps = torch.arange(len(x))
    return x * steps, -len(x) - 1
