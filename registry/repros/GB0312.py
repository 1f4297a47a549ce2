"""One of the operands of `torch.cond` is a function. The operands become
inputs of the recorded branches, and only tensors, constants and containers of
those can be that."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def first(x, act):
    return act(x) + 1


def last(x, act):
    return act(x + 1)


def broken(x):
    return torch.cond(len(x) > 4, first, last, (x, torch.relu))


def fixed(x):
    """Use this when a branch needs a function as well as tensors. Let each
    branch name the function itself, and pass only tensors as operands."""
    act = torch.relu
    return torch.cond(
        len(x) > 4, lambda x: first(x, act), lambda x: last(x, act), (x,)
    )
