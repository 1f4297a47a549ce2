"""One of the operands of a `switch` is a function. The operands become inputs
of the recorded branches, and only tensors, constants and containers of those
can be that."""
import torch

REACH = "private"
EAGER_RAISES = "AssertionError"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randint(2, ())


def first(x, act):
    return act(x) + 1


def last(x, act):
    return act(x + 1)


def broken(x, which):
    switch = torch.ops.higher_order.switch
    return switch(which, (first, last), (x, torch.relu))


def fixed(x, which):
    """Use this when a branch needs a function as well as tensors. Let each
    branch name the function itself, and pass only tensors as operands."""
    switch = torch._higher_order_ops.switch
    act = torch.relu
    return switch(
        which, (lambda x: first(x, act), lambda x: last(x, act)), (x,)
    )
