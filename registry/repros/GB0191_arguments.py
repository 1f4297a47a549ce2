"""`id` takes one argument, but it got two. It fails in eager mode, too."""
import torch

EAGER_RAISES = "TypeError"
TITLE = "two arguments"
REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(old, new):
    return old.sin() if id(old, new) else old + new


def fixed(old, new):
    """Use this when you ask if two names mean the same tensor. `is` does
    that."""
    return old.sin() if old is new else old + new
