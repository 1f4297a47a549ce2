"""The branches of `torch.cond` return None beside the tensor, in place of an
optional second result. Integers are the only constants that a branch can
return."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def broken(x):
    return torch.cond(
        len(x) > 4,
        lambda x: (x.sin(), None),
        lambda x: (x.cos(), None),
        (x,),
    )


def fixed(x):
    """Use this when both branches return None in the same place. Return only
    tensors from the branches, and add the None outside."""
    y = torch.cond(len(x) > 4, torch.sin, torch.cos, (x,))
    return y, None
