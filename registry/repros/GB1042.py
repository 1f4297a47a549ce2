"""`backward(inputs=...)` names a tensor that was made inside the compiled
function. Dynamo accepts there only tensors that come from outside."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}
GRADIENT = {
    "fixed": "An input that requires a gradient from outside still ends the"
    " graph."
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    scale = torch.ones_like(x).requires_grad_()
    (scale * x).sin().sum().backward(inputs=[scale])
    return scale.grad


def fixed(x):
    """Use this when you keep the flag `trace_autograd_ops`: this fix needs it
    too. Let `torch.autograd.grad` return the gradient. It takes any tensor."""
    scale = torch.ones_like(x).requires_grad_()
    return torch.autograd.grad((scale * x).sin().sum(), scale)[0]


def fixed_func(x):
    """Use this when you don't want the flag `trace_autograd_ops`. Call
    `torch.func.grad` on the loss. Like `backward`, it gives a plain result.
    Without `detach`, the result would have a gradient itself."""
    def loss(scale):
        return (scale * x.detach()).sin().sum()

    return torch.func.grad(loss)(torch.ones_like(x))
