"""The compiled function itself calls `torch._dynamo.disable`. That call makes
a function that runs without compilation. It belongs where functions are
defined, and Dynamo doesn't trace it."""

import torch

REACH = "private"
REQUIRES = {"release": ">=2.14"}
OPAQUE = {
    "fixed_custom_op": "The function is disabled for a reason, and must stay hidden. What is around it is compiled.",
}


def smooth(x):
    return (x + x.roll(1)) / 2


@torch.library.custom_op("gb0376::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return smooth(x)


def backward(ctx, grad):
    return (grad + grad.roll(-1)) / 2


smooth_op.register_fake(torch.empty_like)
smooth_op.register_autograd(backward)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch._dynamo.disable(smooth)(x.sin()).cos()


def fixed(x):
    """Use this when the reason for `disable` is gone. Call the plain
    function."""
    return smooth(x.sin()).cos()


def fixed_custom_op(x):
    """Use this when the function still must not be traced. A custom operator
    runs it inside the graph. `register_autograd` gives it a gradient."""
    return smooth_op(x.sin()).cos()
