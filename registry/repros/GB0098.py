"""The program calls a function that is marked `torch.compiler.disable`, by you
or by a library. Dynamo obeys: it ends the graph, lets Python run the function,
and starts another graph."""
import torch

OPAQUE = {
    "fixed_custom_op": "The function is disabled for a reason, and must stay hidden. "
    "What is around it is compiled.",
}

TITLE = "A disabled function"


def smooth(x):
    return (x + x.roll(1)) / 2


smooth_eager = torch.compiler.disable(smooth)


@torch.library.custom_op("gb0098::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return smooth(x)


def backward(ctx, grad):
    return (grad + grad.roll(-1)) / 2


smooth_op.register_fake(torch.empty_like)
smooth_op.register_autograd(backward)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return smooth_eager(x.sin()).cos()


def fixed(x):
    """Use this when the reason for `disable` is gone. Call the plain
    function."""
    return smooth(x.sin()).cos()


def fixed_custom_op(x):
    """Use this when the function still must not be traced. A custom operator
    runs it inside the graph. `register_autograd` gives it a gradient."""
    return smooth_op(x.sin()).cos()
