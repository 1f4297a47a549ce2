"""`backward` asks the autograd engine to call a function when the whole
backward pass is over. Dynamo can record that only with compiled autograd and
`fullgraph=True`."""
import torch

REACH = "private"
NO_FIX = (
    "The engine takes callbacks only while a real backward pass runs. If the "
    "training loop is yours, call the function after `backward()` instead."
)


class Notify(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        engine = torch.autograd.Variable._execution_engine
        engine.queue_callback(lambda: print("backward is over"))
        return grad


@torch.compiler.disable
def notify(x):
    return Notify.apply(x)


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return Notify.apply(x).sin()


def isolated(x):
    """Keep the call out of the graph. What follows is compiled."""
    return notify(x).sin()
