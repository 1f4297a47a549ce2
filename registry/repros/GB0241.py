"""`max` writes its two results into columns of larger tensors. A column is not
contiguous, and Dynamo doesn't trace an `out=` that isn't."""
import torch


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    values = x.new_zeros(x.shape[1], 2)
    indices = torch.zeros_like(values, dtype=torch.long)
    torch.max(x, 0, out=(values[:, 0], indices[:, 0]))
    return values, indices


def fixed(x):
    """Use this when the results belong in columns of larger tensors. Assign to
    the columns; that writes into the same memory."""
    values = x.new_zeros(x.shape[1], 2)
    indices = torch.zeros_like(values, dtype=torch.long)
    values[:, 0], indices[:, 0] = torch.max(x, 0)
    return values, indices
