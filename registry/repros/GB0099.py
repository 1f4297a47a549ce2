"""The program calls a method that is marked `torch.compiler.disable`. Dynamo
obeys: it ends the graph, lets Python run the method, and starts another
graph."""
import torch

OPAQUE = {
    "fixed_custom_op": "The method is disabled for a reason, and must stay hidden. "
    "What is around it is compiled.",
}


class Filter:
    def smooth(self, x):
        return (x + x.roll(1)) / 2

    smooth_eager = torch.compiler.disable(smooth)


@torch.library.custom_op("gb0099::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return FILTER.smooth(x)


def smooth_gradient(ctx, grad):
    return (grad + grad.roll(-1)) / 2


smooth_op.register_fake(torch.empty_like)
smooth_op.register_autograd(smooth_gradient)
FILTER = Filter()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return FILTER.smooth_eager(x.sin()).cos()


def fixed(x):
    """Use this when the reason for `disable` is gone. Call the plain
    method."""
    return FILTER.smooth(x.sin()).cos()


def fixed_custom_op(x):
    """Use this when the method still must not be traced. A custom operator
    runs it in the graph. Tell it how gradients flow back with
    `register_autograd`."""
    return smooth_op(x.sin()).cos()
