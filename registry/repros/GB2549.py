"""A generator yields more than 102400 items. Dynamo runs it item by item while
tracing, and at that number it assumes that the generator has no end."""
import torch


def times():
    yield from range(102402)


def inputs():
    return (torch.randn(8),)


def broken(x):
    grid = torch.tensor([*times()], dtype=torch.float64)
    return x * grid.mean()


def fixed(x):
    """Use this when the items are numbers. Let one tensor operation, such as
    `torch.arange`, make all of them."""
    grid = torch.arange(102402, dtype=torch.float64)
    return x * grid.mean()
