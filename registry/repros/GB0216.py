"""A Triton kernel is launched with a grid that is no tuple or list, such as an
array of numpy."""

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
    y = torch.empty_like(x)
    double[np.array([1])](x, y, 8)
    return y


def fixed(x):
    """Give the grid as a tuple."""
    y = torch.empty_like(x)
    double[(1,)](x, y, 8)
    return y
