"""`backward(inputs=...)` names a tensor that was made inside the compiled
function. Dynamo accepts there only tensors that come from outside."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}


def inputs():
    return (torch.randn(8),)


def broken(x):
    scale = torch.ones_like(x).requires_grad_()
    (scale * x).sin().sum().backward(inputs=[scale])
    return scale.grad


def fixed(x):
    """Let the gradient be a result: `torch.autograd.grad` returns it, and it
    takes any tensor. It needs the same flag, `trace_autograd_ops`."""
    scale = torch.ones_like(x).requires_grad_()
    return torch.autograd.grad((scale * x).sin().sum(), scale)[0]


def fixed_func(x):
    """You don't want that flag: `torch.func.grad` of the loss. Like `backward`
    it gives a plain result; without `detach` it gives one that has a gradient
    itself."""
    def loss(scale):
        return (scale * x.detach()).sin().sum()

    return torch.func.grad(loss)(torch.ones_like(x))
