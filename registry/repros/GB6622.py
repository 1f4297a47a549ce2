"""Two tuples of tensors are compared. Python needs to know now whether each
pair is equal, and while Dynamo traces the tensors have no values yet."""
import torch


def inputs():
    return torch.randint(0, 2, (3,)), torch.randint(0, 2, (3,))


def broken(x, y):
    same = (x.min(), x.max()) == (y.min(), y.max())
    return x + y if same else x - y


def fixed(x, y):
    """Use this when the comparison only selects one of two tensors. Compare
    the tensors themselves, and select with `torch.where`."""
    same = (x.min() == y.min()) & (x.max() == y.max())
    return torch.where(same, x + y, x - y)
