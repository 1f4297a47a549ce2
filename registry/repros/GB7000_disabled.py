"""A loop over layers calls a function that is marked
`torch.compiler.disable`, or one that Dynamo skips. The break is in the loop,
so no layer is compiled."""
import torch
from torch._dynamo.decorators import skip

OPAQUE = {
    "fixed_custom_op": "The function is disabled for a reason, and must stay hidden. "
    "What is around it is compiled.",
}

TITLE = "A disabled function"


def smooth(x):
    return (x + x.roll(1)) / 2


smooth_eager = torch.compiler.disable(smooth)


@torch.library.custom_op("gb7000::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return smooth(x)


smooth_op.register_fake(torch.empty_like)
smooth_op.register_autograd(lambda ctx, grad: (grad + grad.roll(-1)) / 2)


def wave(x):
    return x.sin()


def inputs():
    return (torch.randn(8),)


def broken(x):
    for _ in range(3):
        x = smooth_eager(x.sin())
    return x


def fixed(x):
    """Use this when the reason for `disable` is gone. Call the plain
    function."""
    for _ in range(3):
        x = smooth(x.sin())
    return x


def fixed_custom_op(x):
    """Use this when Dynamo still must not trace the function. A custom
    operator runs it inside the graph, and `register_autograd` gives it a
    gradient."""
    for _ in range(3):
        x = smooth_op(x.sin())
    return x


@skip
def fixed_body(x):
    """Use this when most of the work is in the other calls. Compile those, and
    not the loop (`skip` stands for a loop that you don't compile). Each step
    then runs a graph, and the disabled function after it."""
    for _ in range(3):
        x = smooth_eager(wave(x))
    return x
