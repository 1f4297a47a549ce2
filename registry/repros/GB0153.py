"""A list of modules is indexed with a tensor, so which module runs depends on
data. `torchdynamo_force_dynamic = False` makes Dynamo treat the list as in a
strict export; without it the break has another name."""
import torch
from torch import nn

REACH = "private"


class Experts(nn.ModuleList):
    torchdynamo_force_dynamic = False


EXPERTS = Experts([nn.Linear(4, 4), nn.Linear(4, 4)])


def inputs():
    return torch.randn(4), torch.randint(2, ())


def broken(x, which):
    return EXPERTS[which](x)


def fixed(x, which):
    """Use this when the modules are expensive. `torch.cond` records both and
    runs only one."""
    return torch.cond(which == 0, EXPERTS[0], EXPERTS[1], (x,))


def fixed_all(x, which):
    """Use this when the modules are cheap. Run all of them and select the
    result. Give zeros to those that are not chosen: a NaN or an infinity in
    `x` would spoil the gradients of their weights."""
    first = which == 0
    one = EXPERTS[0](torch.where(first, x, 0))
    other = EXPERTS[1](torch.where(first, 0, x))
    return torch.where(first, one, other)
