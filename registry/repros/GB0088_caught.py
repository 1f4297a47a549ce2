"""A function raises, and its caller catches that. Dynamo can trace this. But
if the function has a graph break before it raises, Dynamo compiles the rest of
it separately, without the code that catches the exception."""
import torch

TITLE = "Caught by the caller"


def inputs():
    return (torch.randn(2),)


def checked_root(x):
    norm = x.norm().item()
    if norm > 1:
        raise ValueError("x is too large")
    return (1 - x * x).sqrt()


def broken(x):
    try:
        return checked_root(x)
    except ValueError:
        return x.cos()


def fixed(x):
    """Use this when the data decide, and both branches are cheap. Select with
    a tensor instead of raising. Replace values that would give NaN first,
    because NaN spoils the gradient."""
    large = x.norm() > 1
    root = (1 - torch.where(large, 0, x).square()).sqrt()
    return torch.where(large, x.cos(), root)


def fixed_cond(x):
    """Use this when the data decide, and a branch is expensive. `torch.cond`
    records both branches and runs only one."""
    return torch.cond(
        x.norm() > 1, torch.cos, lambda x: (1 - x * x).sqrt(), (x,)
    )
