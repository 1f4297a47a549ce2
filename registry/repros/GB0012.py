"""A local variable whose name starts with a dot is read before anything was
assigned to it. Only Python makes such names, for the loops in comprehensions,
and always assigns; this one was renamed by hand."""
import torch

REACH = "bytecode"
COVERAGE = "the assignment must not run, or there is no break"


def inputs():
    return (torch.randn(8),)


def broken(x):
    if x.dim() == 2:
        scale = x.size(1)
    try:
        return x / scale
    except UnboundLocalError:
        return x / 2


broken.__code__ = broken.__code__.replace(co_varnames=("x", ".scale"))


def fixed(x):
    """Use this when your code renames variables in bytecode. Don't rename
    them, and give the variable a value on every path."""
    scale = 2
    if x.dim() == 2:
        scale = x.size(1)
    return x / scale
