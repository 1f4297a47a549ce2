"""The compiled function calls `.backward()`. By default Dynamo traces the
forward pass only, and ends the graph where the backward pass begins."""
import torch

FLAGS = {"fixed_flag": {"trace_autograd_ops": True}}
GRADIENT = {
    "fixed_flag": "An input that requires a gradient from outside still ends"
    " the graph."
}


def inputs():
    return torch.randn(4), torch.randn(4, requires_grad=True)


def loss(weight, x):
    return (x * weight).square().mean()


def broken(x, weight):
    loss(weight, x).backward()
    return weight.grad


def fixed(x, weight):
    """Use this when you want the gradient in the same graph and don't need
    `.backward()`. `torch.func.grad` computes it. This sets `grad`. If `grad`
    already holds a gradient, add to it."""
    weight.grad = torch.func.grad(loss)(weight.detach(), x.detach())
    return weight.grad


def fixed_flag(x, weight):
    """Use this when you want to keep `.backward()`. With the flag
    `trace_autograd_ops`, Dynamo traces it. If you return the loss, too, it
    must be detached."""
    loss(weight, x).backward()
    return weight.grad
