"""The two branches of a `cond` return different numbers of tensors. The program
traces it with make_fx, without Dynamo in front of it."""
import torch
from torch.fx.experimental.proxy_tensor import make_fx

cond = torch.ops.higher_order.cond


def one_and_two(x):
    return cond(x.sum() > 0, lambda x: (x + 1, x + 2), lambda x: (x + 1,), (x,))


def two_and_two(x):
    return cond(x.sum() > 0, lambda x: (x + 1, x + 2), lambda x: (x + 1, x - 2), (x,))


def message():
    make_fx(one_and_two)(torch.ones(4))


def fixed():
    """Use this when both branches are yours: return the same number of tensors from each."""
    return tuple(make_fx(two_and_two)(torch.ones(4))(torch.ones(4)))


def eager():
    return torch.ones(4) + 1, torch.ones(4) + 2
