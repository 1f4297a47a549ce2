"""A list is sorted by keys that are tensors. While Dynamo traces, the keys
have no values yet, so it can't put the list in order."""
import torch

LIMITS = {
    "fixed": {
        "nan": "Python's order depends on where the row with the NaN stands. "
        "`argsort` puts it last."
    }
}


def inputs():
    return (torch.randn(4, 3),)


def broken(x):
    rows = list(x)
    rows.sort(key=lambda row: row.sum())
    return torch.stack(rows)


def fixed(x):
    """Use this when the things to sort fit into one tensor. Sort it with
    tensor operations."""
    return x[x.sum(dim=1).argsort(stable=True)]
