"""`max_autotune` runs every candidate for a matrix product and keeps the
fastest. That takes time, and Inductor prints how long."""

import torch
from torch._inductor.utils import fresh_cache


def inputs():
    left = torch.arange(3 * 16 * 32).remainder(5).float().reshape(3, 16, 32)
    right = torch.arange(3 * 32 * 32).remainder(7).float().reshape(3, 32, 32)
    return left, right


def product(left, right):
    return torch.bmm(left, right)


def message():
    with fresh_cache():  # an earlier choice on disk would be taken again
        return torch.compile(product, options={"max_autotune": True})(*inputs())


def fixed():
    """Use this when compiling takes too long: the default mode takes PyTorch's
    own matrix product and measures nothing."""
    with fresh_cache():
        return torch.compile(product)(*inputs())


def eager():
    return product(*inputs())
