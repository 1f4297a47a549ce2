"""A compiled function is given to `torch.func.grad`, `vmap` or `jvp` by code
that is not compiled. Dynamo can't trace it there: the tensors are wrapped."""

import torch

EAGER_RAISES = "Unsupported"


def inputs():
    return (torch.randn(8),)


@torch.compile(fullgraph=True)
def loss(x):
    return x.sin().sum()


@torch.compiler.disable
def not_compiled(x):
    return torch.func.grad(loss)(x)


def broken(x):
    return not_compiled(x)


def plain_loss(x):
    return x.sin().sum()


def fixed(x):
    """Use this when you can compile the code that calls `torch.func.grad`.
    Compile the whole transform, and pass it a function that is not compiled
    separately."""
    return torch.func.grad(plain_loss)(x)
