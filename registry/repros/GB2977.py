"""This TorchScript function was compiled from a string. Dynamo traces the
Python function behind a TorchScript one, and here there is none."""
import torch

SOURCE = """
def double(x):
    return x * 2
"""

scripted = torch.jit.CompilationUnit(SOURCE).double


def double(x):
    return x * 2


def inputs():
    return (torch.randn(4),)


def broken(x):
    return scripted(x) + 1


def fixed(x):
    """Use this when you have the source of the TorchScript function. Write it
    as a Python function: Dynamo traces that."""
    return double(x) + 1
