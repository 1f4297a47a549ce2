"""`torch.cond` was given None as the branch that is never wanted. Dynamo
records both branches beforehand, so both must be callable."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(5, 9, ()))),)


def broken(x):
    return torch.cond(len(x) > 4, torch.sin, None, (x,))


def fixed(x):
    """Use this when the other branch should do nothing. Return a copy of the
    operand there. (A branch may not return the operand itself.)"""
    return torch.cond(len(x) > 4, torch.sin, torch.clone, (x,))
