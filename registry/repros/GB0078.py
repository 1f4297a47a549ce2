"""`nonstrict_trace` wraps a function that is defined inside the compiled
code. Dynamo wants to put the wrapped function into the graph as it is, and a
function that is only being made during tracing doesn't exist yet."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    @torch._dynamo.nonstrict_trace
    def scaled(y):
        return y * 2

    return scaled(x) + 1


@torch._dynamo.nonstrict_trace
def scaled(y):
    return y * 2


def fixed(x):
    """Use this when you need `nonstrict_trace`. Define the function at module
    level, and pass as arguments what it took from the enclosing function."""
    return scaled(x) + 1


def fixed_plain(x):
    """Use this when Dynamo can trace the function without help. Leave the
    decorator out."""
    def scaled(y):
        return y * 2

    return scaled(x) + 1
