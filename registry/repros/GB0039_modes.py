"""A version is compiled for one dtype and one gradient mode. A small function
that all parts of a program call gets a version for each combination."""
import torch
from torch._dynamo.decorators import skip

TITLE = "Dtypes and gradient modes"
FLAGS = {"fixed_flag": {"recompile_limit": 12}}
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
MODES = [torch.enable_grad, torch.no_grad, torch.inference_mode]


def energy(x):
    return x.square().mean()


def inputs():
    return (torch.randn(8),)


# `skip`: the loop is left to Python, and what it calls is compiled.
@skip
def broken(x):
    found = []
    for dtype in DTYPES:
        for mode in MODES:
            with mode():
                found.append(energy(x.to(dtype)))
    return found


@skip
def fixed_flag(x):
    """Use this when you need all combinations, and you know how many there
    are. Raise `recompile_limit` to that number. Each costs a compilation, and
    each call tries them in turn."""
    found = []
    for dtype in DTYPES:
        for mode in MODES:
            with mode():
                found.append(energy(x.to(dtype)))
    return found
