"""The gradient is computed by calling the autograd engine directly. Of the
engine's methods Dynamo knows only `queue_callback`."""
import torch
from torch.autograd import Variable

REACH = "private"


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    y = x.sin().sum()
    (grad,) = Variable._execution_engine.run_backward(
        (y,), (torch.ones_like(y),), False, False, (x,), False, False
    )
    return grad


def fixed(x):
    """Let `torch.func.grad` compute the gradient: Dynamo traces that.
    Its result belongs to an autograd graph, the engine's doesn't: `detach`."""
    return torch.func.grad(lambda x: x.sin().sum())(x).detach()
