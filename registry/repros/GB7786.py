"""`torch.ops.aten.split` returns a list, and the program changes an item of
it. Dynamo treats the lists that operators return as read-only."""
import torch

TITLE = "A list from torch.ops"


def inputs():
    return (torch.randn(8),)


def broken(x):
    parts = torch.ops.aten.split(x, 4)
    parts[0] = parts[0].sin()
    return torch.cat(parts)


def fixed(x):
    """Use this when you change the list. Copy it with `list` first: Dynamo
    follows the changes of the copy."""
    parts = list(torch.ops.aten.split(x, 4))
    parts[0] = parts[0].sin()
    return torch.cat(parts)
