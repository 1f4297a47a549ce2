"""A padding layer is made with a size taken from the input. The layer repeats
that number for each side, and Dynamo can do so with constants, but not with
the symbolic size it has when shapes are dynamic."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(1, 6, 6),)


def broken(x):
    return torch.nn.ReflectionPad2d(x.shape[-1] // 2)(x)


def fixed(x):
    """Use this when you don't need the layer object. Call the function behind
    it, `pad`, with the four numbers."""
    size = x.shape[-1] // 2
    return torch.nn.functional.pad(x, (size, size, size, size), "reflect")


def fixed_tuple(x):
    """Use this when you want the layer. Repeat the number yourself."""
    size = x.shape[-1] // 2
    return torch.nn.ReflectionPad2d((size, size, size, size))(x)
