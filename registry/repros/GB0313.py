"""One branch of `torch.cond` returns a tuple and the other a list. What comes
out must be built the same way whichever branch is taken."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def broken(x):
    a, b = torch.cond(
        len(x) > 4,
        lambda x: (x.sin(), x.cos()),
        lambda x: [x.square(), x.neg()],
        (x,),
    )
    return a * b


def fixed(x):
    """Use this when each branch returns several tensors. Return the same kind
    of container from both branches, with the same number of entries."""
    a, b = torch.cond(
        len(x) > 4,
        lambda x: (x.sin(), x.cos()),
        lambda x: (x.square(), x.neg()),
        (x,),
    )
    return a * b
