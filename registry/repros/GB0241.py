"""`max` writes its two results into columns of larger tensors. A column is not
contiguous, and Dynamo doesn't trace an `out=` that isn't."""
import torch


def inputs():
    return torch.randn(3, 4), torch.zeros(4, 2), torch.zeros(4, 2).long()


def broken(x, values, indices):
    torch.max(x, 0, out=(values[:, 0], indices[:, 0]))
    return values.sum()


def fixed(x, values, indices):
    """Use this when the results belong in columns of larger tensors. Assign to
    the columns; that writes into the same memory."""
    values[:, 0], indices[:, 0] = torch.max(x, 0)
    return values.sum()
