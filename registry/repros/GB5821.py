"""The compiled function puts a hook on a tensor that it makes, to run after
the gradient is stored. Dynamo can't keep such a hook on a tensor that doesn't
come from outside."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}


def clip(leaf):
    leaf.grad.clamp_(-1, 1)


def loss(leaf):
    return leaf.square().sum()


def inputs():
    return (torch.randn(8),)


def broken(x):
    leaf = x.clone().requires_grad_()
    leaf.register_post_accumulate_grad_hook(clip)
    return leaf, loss(leaf)


@skip
def fixed(x):
    """Use this when the caller can make the tensor. Make it and register the
    hook there, and pass the tensor to the compiled function. `skip` stands for
    a caller that you don't compile."""
    leaf = x.clone().requires_grad_()
    leaf.register_post_accumulate_grad_hook(clip)
    return leaf, loss(leaf)
