"""`id` asks for the identity of a list. Dynamo has its own copy of the list
while it traces, and knows the identity only of tensors, functions, modules
and objects of your classes."""
import torch

TITLE = "id of a list"
REQUIRES = {"release": "<2.12"}


def inputs():
    keep = bool(torch.rand(()) > 0.5)
    return [torch.randn(8)], [torch.randn(8)], keep


def broken(old, new, keep):
    rows = old if keep else new
    if id(rows) == id(old):
        return rows[0].sin()
    return rows[0] + old[0]


def fixed(old, new, keep):
    """Use this when different lists hold different tensors. Ask with `is` if
    the tensors are the same."""
    rows = old if keep else new
    if rows[0] is old[0]:
        return rows[0].sin()
    return rows[0] + old[0]


def fixed_flag(old, new, keep):
    """Use this when you know why you chose the list. Ask for that again."""
    rows = old if keep else new
    if keep:
        return rows[0].sin()
    return rows[0] + old[0]
