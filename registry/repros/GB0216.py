"""A Triton kernel is launched with a grid that is not a tuple or a list, such
as a NumPy array."""

import numpy as np
import torch
import triton
import triton.language as tl

REQUIRES = {"device": "cuda", "module": "triton"}


@triton.jit
def double(source, target, size: tl.constexpr):
    at = tl.arange(0, size)
    tl.store(target + at, tl.load(source + at) * 2)


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = torch.zeros_like(x)
    double[np.array([1])](x, y, 8)
    return y


def fixed(x):
    """Use this when you know the numbers of the grid. Give them as a tuple."""
    y = torch.zeros_like(x)
    double[(1,)](x, y, 8)
    return y
