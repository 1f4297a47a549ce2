"""Something in a loop breaks the graph, here `.item()`. Dynamo can't stop
and go on in the middle of a loop, so it gives up the whole function and
Python runs it."""
import torch


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    total = 0.0
    for row in x:
        total += row.max().item()
    return x / total


def fixed(x):
    """Remove the cause: without `.item()` the loop is traced."""
    total = 0.0
    for row in x:
        total += row.max()
    return x / total


def fixed_vectorised(x):
    """One operator can replace the loop: the graph is smaller, too."""
    return x / x.amax(dim=1).sum()
