"""The operator behind `switch` got an empty list of branches, so there is
nothing to run."""
import torch

REACH = "private"
EAGER_RAISES = "AssertionError"
REQUIRES = {"release": ">=2.14"}

steps = []


def inputs():
    return torch.randn(8), torch.randint(2, ())


def broken(x, which):
    return torch.ops.higher_order.switch(which, steps, (x,))


def fixed(x, which):
    """Use this when the list may be empty. Say what to do in that case: here
    a branch that returns a copy."""
    switch = torch._higher_order_ops.switch
    return switch(which, steps or [torch.clone], (x,))
