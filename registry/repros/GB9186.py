"""The compiled function calls `torch.autograd.grad`. By default Dynamo
traces the forward pass only, and this asks for a backward pass in its
middle."""
import torch


def inputs():
    return (torch.randn(4, requires_grad=True),)


def energy(x):
    return x.cos().sum()


def broken(x):
    (slope,) = torch.autograd.grad(energy(x), x)
    return -slope


def fixed(x):
    """`torch.func.grad` makes the gradient part of the graph. Leave `detach` out if
    you differentiate the result again (`create_graph=True`)."""
    return -torch.func.grad(energy)(x.detach())
