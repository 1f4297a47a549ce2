"""The compiled function calls one that is marked `torch.compiler.disable`, and
`fullgraph=True` forbids the graph break that this asks for."""
import torch


def smooth(x):
    return (x + x.roll(1)) / 2


smooth_eager = torch.compiler.disable(smooth)


@torch.library.custom_op("gb0098_fullgraph::smooth", mutates_args=())
def smooth_op(x: torch.Tensor) -> torch.Tensor:
    return smooth(x)


smooth_op.register_fake(torch.empty_like)


def message():
    @torch.compile(backend="eager", fullgraph=True)
    def model(x):
        return smooth_eager(x.sin()).cos()

    return model(torch.arange(4.0))


def fixed():
    """Use this when the call must stay as it is: leave `fullgraph=True` out, let
    `error_on_graph_break(True)` watch over the rest, and switch it off around
    this one call. The graph ends there and another one begins after it."""

    @torch._dynamo.error_on_graph_break(True)
    @torch.compile(backend="eager")
    def model(x):
        x = x.sin()
        with torch._dynamo.error_on_graph_break(False):
            x = smooth_eager(x)
        return x.cos()

    return model(torch.arange(4.0))


def fixed_op():
    """Use this when the function is yours and you want one graph: a custom
    operator runs it inside the graph, untraced. To train, also give it
    `register_autograd`."""

    @torch.compile(backend="eager", fullgraph=True)
    def model(x):
        return smooth_op(x.sin()).cos()

    return model(torch.arange(4.0))


def fixed_plain():
    """Use this when the function need not be disabled any more: call the plain
    function."""

    @torch.compile(backend="eager", fullgraph=True)
    def model(x):
        return smooth(x.sin()).cos()

    return model(torch.arange(4.0))


def eager():
    return smooth(torch.arange(4.0).sin()).cos()
