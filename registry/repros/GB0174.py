"""A program has put a function called `cast` among Python's builtins. Dynamo
takes a builtin of that name for `typing.cast`, which has two arguments, and
this one has three."""
import torch
from torch._dynamo import trace_rules

REACH = "private"


def cast(x, dtype, scale):
    return x.to(dtype) * scale


# Dynamo notes the builtins when it is first imported; `builtins.cast = cast`
# before that has the same effect as this line.
trace_rules._builtin_function_ids.add(id(cast))


def inputs():
    return (torch.randn(8),)


def broken(x):
    return cast(x, torch.float64, 2)


def scaled_to(x, dtype, scale):
    return x.to(dtype) * scale


def fixed(x):
    """Use this when the function doesn't have to be a builtin. Keep it in a
    module, and Dynamo traces it like any other function."""
    return scaled_to(x, torch.float64, 2)
