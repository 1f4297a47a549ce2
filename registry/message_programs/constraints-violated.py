"""The first dimension is marked as dynamic, but the function adds a tensor with
exactly 8 elements. So the dimension can only be 8."""

import torch

WEIGHT = torch.arange(8.0)


def marked():
    x = torch.ones(8)
    torch._dynamo.mark_dynamic(x, 0)
    return x


def add(x):
    return x + WEIGHT


def message():
    torch.compile(add, backend="eager")(marked())


def fixed_maybe():
    """Use this when the size may stay fixed: `maybe_mark_dynamic` asks, it does not insist."""
    x = torch.ones(8)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    return torch.compile(add, backend="eager")(x)


def fixed_code():
    """Use this when the size must change: write code that works for any size."""

    def add_part(x):
        return x + torch.arange(x.shape[0], dtype=x.dtype)

    return torch.compile(add_part, backend="eager")(marked())


def eager():
    return add(torch.ones(8))
