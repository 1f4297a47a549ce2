"""The program defines a higher-order operator of its own, which takes a
function and runs it. Dynamo has rules only for operators of this kind that
torch itself defines."""
import torch
from torch._ops import HigherOrderOperator

REACH = "private"
GRADIENT = {
    "fixed_region": "Up to torch 2.13, `backward()` raises an error with "
    "`backend=\"eager\"`; with Inductor, the default, gradients are right."
}


class Twice(HigherOrderOperator):
    def __call__(self, fn, x):
        return fn(fn(x))


twice = Twice("gb0306_twice")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return twice(torch.sin, x)


def run_twice(fn, x):
    return fn(fn(x))


def fixed(x):
    """Use this when the operator only calls the function. Make it a plain
    function."""
    return run_twice(torch.sin, x)


@torch.compiler.nested_compile_region
def sin_region(x):
    return torch.sin(x)


def fixed_region(x):
    """Use this when the inner function must stay a unit of its own in the
    graph. Mark it as a region, and it is compiled once."""
    return run_twice(sin_region, x)
