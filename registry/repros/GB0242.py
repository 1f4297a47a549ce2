"""The product is written into a column of a larger tensor. A column is not
contiguous, and Dynamo doesn't trace an `out=` that isn't."""
import torch


def inputs():
    return torch.randn(3), torch.randn(3), torch.randn(3, 4)


def broken(x, y, table):
    torch.mul(x, y, out=table[:, 1])
    return table.sum()


def fixed(x, y, table):
    """Use this when the result belongs in a column of a larger tensor. Assign
    to the column; that writes into the same memory."""
    table[:, 1] = x * y
    return table.sum()
