"""An `if` tests a number that comes from `.item()`. You meet this where code
clips a norm or skips a step that is too large."""
import torch

TITLE = "if x.item() > limit"


def inputs():
    return (torch.randn(8) * 0.4,)


def broken(x):
    norm = x.norm().item()
    if norm > 1:
        x = x / norm
    return x.exp()


def fixed(x):
    """Use this when the branch only changes a number. Choose the number, not
    the result, with `torch.where`: a division by 1 changes nothing."""
    norm = x.norm().detach()
    return (x / torch.where(norm > 1, norm, 1)).exp()


def fixed_cond(x):
    """Use this when a branch does a lot of work. `torch.cond` records both
    branches and runs only one."""
    norm = x.norm().detach()
    x = torch.cond(norm > 1, torch.div, lambda x, n: x.clone(), (x, norm))
    return x.exp()
