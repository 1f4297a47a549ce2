"""The Python functions `any` and `all`, and a comprehension with `if`, look at
the values of a tensor one by one."""
import torch

TITLE = "any(...) over a tensor"


def inputs():
    return (torch.randn(8),)


def broken(x):
    if any(value > 1.5 for value in x):
        return x.clamp(max=1.5)
    return x * 2


def fixed(x):
    """Use this when both branches are cheap. Ask once with the tensor's own
    `any`, compute both, and select with `torch.where`."""
    return torch.where((x > 1.5).any(), x.clamp(max=1.5), x * 2)


def fixed_cond(x):
    """Use this when a branch is expensive. Ask with the tensor's own `any`,
    and branch with `torch.cond`."""
    return torch.cond(
        (x > 1.5).any(), lambda x: x.clamp(max=1.5), lambda x: x * 2, (x,)
    )
