"""The branches of `torch.cond` return a size of a tensor whose shape is
dynamic. Fixed integers may leave a branch, sizes known only at run time may
not."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def broken(x):
    y, n = torch.cond(
        len(x) > 4,
        lambda x: (x.sin(), len(x)),
        lambda x: (x.cos(), len(x) + 1),
        (x,),
    )
    return y.sum() / n


def fixed(x):
    """Use this when the number goes into tensor arithmetic. Return it as a
    tensor, and make it a float: if a branch returns an integer tensor,
    training raises an error."""
    y, n = torch.cond(
        len(x) > 4,
        lambda x: (x.sin(), torch.tensor(float(len(x)))),
        lambda x: (x.cos(), torch.tensor(float(len(x) + 1))),
        (x,),
    )
    return y.sum() / n


def fixed_if(x):
    """Use this when only shapes decide which branch runs, not values. Use
    `if`: Dynamo guards on the shape and compiles once for each side."""
    if len(x) > 4:
        y, n = x.sin(), len(x)
    else:
        y, n = x.cos(), len(x) + 1
    return y.sum() / n
