"""`torch.equal` compares all elements and answers with a Python `bool`.
While Dynamo traces there are no elements to compare, so it has no answer."""
import torch


def inputs():
    x = torch.randn(4)
    return x, x.clamp(-1.2, 1.2)


def broken(x, y):
    if torch.equal(x, y):
        return x * 10
    return x - y


def fixed(x, y):
    """Shapes are the same: compare into a tensor, and select with it."""
    same = (x == y).all()
    return torch.where(same, x * 10, x - y)
