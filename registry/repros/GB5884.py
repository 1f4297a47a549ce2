"""The operator behind `switch` got its branches as a `ModuleList`. Eager mode
just takes one module out of it. Dynamo wants a tuple or a list of the
branches."""
import torch
from torch import nn

REACH = "private"
REQUIRES = {"release": ">=2.14"}

acts = nn.ModuleList([nn.SiLU(), nn.Tanh()])


def inputs():
    return torch.randn(8), torch.randint(2, ())


def broken(x, which):
    return torch.ops.higher_order.switch(which, acts, (x,))


def fixed(x, which):
    """Use this when the modules are expensive. Call the documented function,
    with the modules in a tuple. It runs only one of them."""
    return torch._higher_order_ops.switch(which, tuple(acts), (x,))


def fixed_all(x, which):
    """Use this when the modules are cheap. Run all of them, and select one
    result. Give zeros to those that are not chosen: an infinity in `x` would
    spoil the gradient."""
    first = which == 0
    one = acts[0](torch.where(first, x, 0))
    other = acts[1](torch.where(first, 0, x))
    return torch.where(first, one, other)
