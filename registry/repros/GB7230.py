"""`iter()` is called without an argument. It needs the object to go through,
so this is an error without `torch.compile`, too."""
import torch

EAGER_RAISES = "TypeError"
REQUIRES = {"release": ">=2.12,<2.13"}
COVERAGE = "the last line comes after the exception"
SCALES = [0.5, 2.0]


def inputs():
    return (torch.randn(8),)


def broken(x):
    scales = iter()
    return x * next(scales)


def fixed(x):
    """Use this when you forgot the argument. Say what to go through."""
    scales = iter(SCALES)
    return x * next(scales)
