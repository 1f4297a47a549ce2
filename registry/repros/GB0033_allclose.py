"""`torch.allclose` answers with a Python `bool`. You meet this in checks of a
result against a reference, and in tests for convergence."""
import torch

TITLE = "torch.allclose"


def inputs():
    x = torch.randn(4)
    return x, x.clamp(-1.2, 1.2)


def broken(x, y):
    if torch.allclose(x, y):
        return x * 10
    return x - y


def fixed(x, y):
    """Use this when both branches are cheap. `torch.isclose` compares in the
    same way and returns a tensor. Select with `torch.where`."""
    close = torch.isclose(x, y).all()
    return torch.where(close, x * 10, x - y)


def fixed_cond(x, y):
    """Use this when a branch is expensive. Compare with `torch.isclose`, and
    pass the tensor to `torch.cond`."""
    close = torch.isclose(x, y).all()
    return torch.cond(close, lambda x, y: x * 10, torch.sub, (x, y))
