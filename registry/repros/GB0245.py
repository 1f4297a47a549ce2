"""A nested tensor is made from the `.values()` of a dict. Eager mode
accepts that; Dynamo wants a list or a tuple."""
import torch


def inputs():
    return torch.randn(2, 3), torch.randn(4, 3)


def broken(x, y):
    rows = {"x": x, "y": y}
    nested = torch.nested.nested_tensor(rows.values(), layout=torch.jagged)
    return nested.to_padded_tensor(0.0)


def fixed(x, y):
    """Use this when the tensors are the values of a dict. Make a list of them
    first."""
    rows = {"x": x, "y": y}
    rows = list(rows.values())
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
    return nested.to_padded_tensor(0.0)
