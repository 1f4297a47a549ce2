"""An index is larger than the tensor. The compiled code checks each index and
stops."""

import torch


def inputs():
    return torch.arange(4.0), torch.tensor([1, 9])


def pick(table, index):
    return table[index] + 1


def message():
    return torch.compile(pick)(*inputs())


def fixed():
    """Use this when indexes may be too large: bring them into the range first."""
    table, index = inputs()
    return torch.compile(pick)(table, index.clamp(max=len(table) - 1))


def eager():
    table, index = inputs()
    return pick(table, index.clamp(max=3))
