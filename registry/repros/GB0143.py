"""A slice of a list is assigned from an object of a class with `__iter__`.
Dynamo can't unpack such an object here."""
import torch

REQUIRES = {"release": "<2.9"}


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def __iter__(self):
        yield self.first
        yield self.second


def inputs():
    return torch.randn(8), Pair(torch.randn(8), torch.randn(8))


def broken(x, pair):
    rows = [x, x + 1, x + 2]
    rows[:2] = pair
    return torch.stack(rows)


def fixed(x, pair):
    """Use this when you can change the assignment. Make a list of the object
    first."""
    rows = [x, x + 1, x + 2]
    rows[:2] = [row for row in pair]
    return torch.stack(rows)
