"""`copy.deepcopy` is called as a Python builtin. Dynamo traces the function
of the module `copy`, but if a program has put it among the builtins, Dynamo
goes by an old rule that only refuses."""
import copy

import torch
from torch._dynamo import trace_rules

TITLE = "deepcopy as a builtin"
ORDER = ["GB0179_config", "GB0179"]
REACH = "private"
SIZES = [[2, 6], [4, 4]]

# Dynamo notes the builtins when it is first imported; a program that says
# `builtins.deepcopy = copy.deepcopy` before that has the effect of this line.
trace_rules._builtin_function_ids.add(id(copy.deepcopy))


def inputs():
    return (torch.randn(8),)


def broken(x):
    sizes = copy.deepcopy(SIZES)
    sizes[0].reverse()
    return x.split(sizes[0])


def fixed(x):
    """Use this when you know how deep the data is. Copy the inner lists
    yourself. If you don't know it, keep `deepcopy` out of the builtins, and
    Dynamo traces it."""
    sizes = [list(row) for row in SIZES]
    sizes[0].reverse()
    return x.split(sizes[0])
