"""With compiled autograd on, a function that hooks an intermediate tensor is
exported. The graph needs a place for the hook, and an exported one has none."""
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
    """Compile the function instead of exporting it: `torch.compile` keeps the
    hook. Or export it before you turn compiled autograd on."""
    return hooked(x)
