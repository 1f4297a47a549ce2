"""A region that is to be compiled once and reused is an object with a
`__call__` method. Dynamo takes only functions and modules for that."""
import torch

GRADIENT = {
    "fixed": "Up to torch 2.13, `backward()` raises an error with "
    "`backend=\"eager\"`; with Inductor, the default, gradients are right."
}


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


scale = Scale(2.0)
region = torch.compiler.nested_compile_region(scale)


@torch.compiler.nested_compile_region
def scaled(x):
    return scale(x)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return region(x) + region(x + 1)


def fixed(x):
    """Use this when you want the code to be compiled only once. Put the call
    into a function, and mark that function as the region."""
    return scaled(x) + scaled(x + 1)


def fixed_inline(x):
    """Use this when the code is short, so that compiling it twice costs
    little. Call the object itself, without a region."""
    return scale(x) + scale(x + 1)
