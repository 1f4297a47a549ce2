"""The program calls a function that is marked `torch.compiler.disable`.
Dynamo obeys: it ends the graph, lets Python run the function, and starts
another graph."""
import torch


def smooth(x):
    return (x + x.roll(1)) / 2


smooth_eager = torch.compiler.disable(smooth)


@torch.library.custom_op("gb0098::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return smooth(x)


smooth_op.register_fake(torch.empty_like)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return smooth_eager(x.sin()).cos()


def fixed(x):
    """The reason for `disable` is gone: call the plain function."""
    return smooth(x.sin()).cos()


def fixed_custom_op(x):
    """It still must not be traced: a custom operator runs it inside the graph.
    For gradients, also give it a `register_autograd`."""
    return smooth_op(x.sin()).cos()
