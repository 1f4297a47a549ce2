"""A Triton kernel is called in a way that Dynamo can't put into a graph, such
as with `num_ctas`, or with two `autotune` decorators."""

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
    double[(1,)](x, y, 8, num_ctas=1)
    return y


def fixed(x):
    """Use this when you pass an option such as `num_ctas` in the call. Leave
    the option out, or put it into a `Config` for `autotune`."""
    y = torch.zeros_like(x)
    double[(1,)](x, y, 8)
    return y
