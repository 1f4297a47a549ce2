"""The index of a `switch` is a member of an enum. Eager mode accepts it
because it is also an int. Dynamo takes only a plain int, or an integer tensor
with one element."""
import enum

import torch

REACH = "private"
REQUIRES = {"release": ">=2.14"}


class Act(enum.IntEnum):
    RELU = 0
    TANH = 1


act = Act.TANH


def inputs():
    return (torch.randn(8),)


def broken(x):
    switch = torch._higher_order_ops.switch
    return switch(act, (torch.relu, torch.tanh), (x,))


def fixed(x):
    """Use this when Python already knows which branch to run. Take the
    function from the tuple, and call it."""
    return (torch.relu, torch.tanh)[act](x)


def fixed_tensor(x):
    """Use this when the graph must contain all branches. Make the index a
    tensor from the number of the enum member."""
    switch = torch._higher_order_ops.switch
    which = torch.tensor(act.value)
    return switch(which, (torch.relu, torch.tanh), (x,))
