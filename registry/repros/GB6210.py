"""A module is created in the compiled function and given to a function marked
`nonstrict_trace`. The graph has to find the module again when it runs, but one
that was made while tracing is stored nowhere."""
import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 0.5


scale = Scale()


@torch._dynamo.nonstrict_trace
def apply(module, x):
    return module(x)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return apply(Scale(), x)


def fixed(x):
    """Use this when all calls can share one module. Create it once,
    outside."""
    return apply(scale, x)
