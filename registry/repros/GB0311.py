"""The operands of `torch.cond` came as the values of a dict. Dynamo wants a
tuple or a list there."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    n = int(torch.randint(2, 9, ()))
    return ({"a": torch.randn(n), "b": torch.randn(n)},)


def broken(pair):
    big = len(pair["a"]) > 4
    return torch.cond(big, torch.add, torch.mul, pair.values())


def fixed(pair):
    """Use this when your operands are the values of a dict. Wrap them in
    `tuple(...)`. Write a single operand as `(x,)`."""
    big = len(pair["a"]) > 4
    return torch.cond(big, torch.add, torch.mul, tuple(pair.values()))
