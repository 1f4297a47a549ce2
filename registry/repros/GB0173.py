"""A function puts a hook on an intermediate tensor and is exported while
compiled autograd is on. The graph needs a place for the hook, and an exported
graph has none."""
import torch
from torch._dynamo import compiled_autograd

EAGER_RAISES = "Unsupported"
REACH = "private"


def hooked(x):
    y = x.sin()
    y.register_hook(torch.neg)
    return y + 1


@torch.compiler.disable
def export(x):
    with compiled_autograd._enable(lambda graph: graph):
        return torch._dynamo.export(hooked)(x)


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return export(x)


def fixed(x):
    """Use this when you can compile the function instead of exporting it.
    `torch.compile` keeps the hook. Or export the function before you turn
    compiled autograd on."""
    return hooked(x)
