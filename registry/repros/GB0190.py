"""The attribute's name is put together from the value of a tensor. While
Dynamo traces there are no values yet, so it can't know which attribute."""
import torch


class Scales:
    scale0 = 2.0
    scale1 = 3.0


def inputs():
    return (torch.randn(2),)


def broken(x):
    return x * getattr(Scales, f"scale{x.argmax()}")


def fixed(x):
    """Use this when the choices are numbers. Put them in a tensor, and use the
    value as an index."""
    scales = torch.tensor([Scales.scale0, Scales.scale1], device=x.device)
    return x * scales.index_select(0, x.argmax().reshape(1))


def fixed_cond(x):
    """Use this when the choices are computations. `torch.cond` records both
    and runs only one."""
    return torch.cond(
        x.argmax() == 0,
        lambda x: x * Scales.scale0,
        lambda x: x * Scales.scale1,
        (x,),
    )
