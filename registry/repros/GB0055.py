"""A torch function is given an object of the user's own class that stands for
an integer. Eager asks it for the integer; Dynamo can't put it into a graph."""
import torch


class Heads:
    def __index__(self):
        return 4


HEADS = Heads()
COUNT = int(HEADS)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.view(HEADS, 2)


def fixed(x):
    """Convert the object to a plain number outside, and pass that."""
    return x.view(COUNT, 2)
