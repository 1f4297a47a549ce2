"""A flag for PyTorch's own tests is on. It makes Dynamo behave as if it had no
rule for sets written with braces."""
import torch

REACH = "config"
CONFIG = {"inject_BUILD_SET_unimplemented_TESTING_ONLY": True}
FLAGS = {"fixed_flag": {"inject_BUILD_SET_unimplemented_TESTING_ONLY": False}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    sizes = {x.dim(), x.size(0)}
    return x / len(sizes)


def fixed_flag(x):
    """Use this when you are not testing PyTorch itself. Leave
    `inject_BUILD_SET_unimplemented_TESTING_ONLY` off, as it is by default.
    That costs nothing."""
    sizes = {x.dim(), x.size(0)}
    return x / len(sizes)
