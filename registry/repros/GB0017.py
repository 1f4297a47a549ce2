"""The program calls `invoke_subgraph`, which is an internal form for Dynamo's
own use. Dynamo produces it, but doesn't accept it from a program."""
import torch
from torch._higher_order_ops import invoke_subgraph

REACH = "private"


def square(x):
    return (x * x,)


@torch.compiler.nested_compile_region
def square_region(x):
    return x * x


def inputs():
    return (torch.randn(4),)


def broken(x):
    return invoke_subgraph(square, "square", x)[0] + 1


def fixed(x):
    """Use this when your own code calls `invoke_subgraph`. Mark the function
    with the public decorator `nested_compile_region` instead. It means the
    same."""
    return square_region(x) + 1
