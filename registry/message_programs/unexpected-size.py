"""The fake implementation of a custom operator says that the result is as large
as the input. The operator itself returns a tensor that is twice as large."""

import torch


@torch.library.custom_op("unexpected_size::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x])


@twice.register_fake
def half_the_size(x):
    return torch.empty_like(x)  # wrong: half of the real size


@torch.library.custom_op("unexpected_size::twice_fixed", mutates_args=())
def twice_fixed(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x])


@twice_fixed.register_fake
def the_size(x):
    return x.new_empty(2 * x.shape[0])


def message():
    return torch.compile(lambda x: twice(x) + 1)(torch.arange(3.0))


def fixed():
    """Use this when the operator is yours: let the fake implementation return
    the same size and strides as the operator (`torch.library.opcheck` tests it)."""
    return torch.compile(lambda x: twice_fixed(x) + 1)(torch.arange(3.0))


def eager():
    x = torch.arange(3.0)
    return torch.cat([x, x]) + 1
