"""A tensor is created with `requires_grad=True`, the start of a new autograd
graph. Dynamo doesn't make such tensors inside a graph."""
import torch

shared_scale = torch.ones(8, requires_grad=True)


def inputs():
    return (torch.randn(8),)


def broken(x):
    scale = torch.ones(8, device=x.device, requires_grad=True)
    return x * scale


def fixed(x):
    """Use this when all calls can share the tensor. Create it once, outside.
    Gradients of all calls add up in its `.grad`, so clear that between
    steps."""
    return x * shared_scale
