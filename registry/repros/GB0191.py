"""`id` asks for the identity of a list. Dynamo has its own copy of the list
while it traces, and knows the identity only of tensors, functions, modules
and objects of your classes."""
import torch

TITLE = "id of a list"
REQUIRES = {"release": "<2.12"}


def inputs():
    rows = [torch.randn(8), torch.randn(8)]
    shared = bool(torch.rand(()) > 0.5)
    return rows, rows if shared else [row + 1 for row in rows]


def broken(old, new):
    if id(old) == id(new):
        return old[0].sin()
    return old[0] + new[0]


def fixed(old, new):
    """Use this when you only ask if two names mean the same list. `is` does
    that."""
    if old is new:
        return old[0].sin()
    return old[0] + new[0]
