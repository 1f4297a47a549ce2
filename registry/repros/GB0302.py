"""`torch.cond` was given None as the branch that is never wanted. Dynamo
records both branches beforehand, so both must be callable."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(5, 9, ()))),)


def broken(x):
    return torch.cond(len(x) > 4, torch.sin, None, (x,))


def fixed(x):
    """Nothing is to happen on the other side: return a copy of the operand. (A
    branch may not return the operand itself.)"""
    return torch.cond(len(x) > 4, torch.sin, torch.clone, (x,))
