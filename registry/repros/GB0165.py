"""The gradient is computed by calling the autograd engine directly. Dynamo
knows only one method of the engine, `queue_callback`."""
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
    """Use this when you want the gradient of a function. Call
    `torch.func.grad`, which Dynamo traces. Its result belongs to an autograd
    graph and the engine's doesn't, so call `detach`."""
    return torch.func.grad(lambda x: x.sin().sum())(x).detach()
