"""The operator behind `switch` got its operands in a deque. Dynamo wants a
tuple or a list there."""
import collections

import torch

REACH = "private"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randn(8), torch.randint(2, ())


def broken(new, old, which):
    recent = collections.deque([new, old])
    switch = torch.ops.higher_order.switch
    return switch(which, (torch.add, torch.mul), recent)


def fixed(new, old, which):
    """Use this when you keep the operands in a deque. Call the documented
    function, and wrap the operands in `tuple(...)`."""
    recent = collections.deque([new, old])
    switch = torch._higher_order_ops.switch
    return switch(which, (torch.add, torch.mul), tuple(recent))
