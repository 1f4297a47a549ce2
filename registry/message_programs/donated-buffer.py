"""The compiled backward pass reuses the memory of saved tensors. That was decided
at the first backward(); a later one asks to keep them with retain_graph=True."""

import torch
import torch._functorch.config


def loss(x, w):
    return (x @ w).sin().sum()


def train(function, keep):
    x = torch.ones(3, 3)
    w = torch.ones(3, 3, requires_grad=True)
    function(x, w).backward()
    function(x, w).backward(retain_graph=keep)
    return w.grad


def message():
    train(torch.compile(loss, backend="aot_eager"), keep=True)


def fixed_drop():
    """Use this when you do not need the graph afterwards: leave `retain_graph=True` out."""
    return train(torch.compile(loss, backend="aot_eager"), keep=False)


def fixed_config():
    """Use this when you need `retain_graph=True`: switch the reuse of memory off."""
    with torch._functorch.config.patch(donated_buffer=False):
        return train(torch.compile(loss, backend="aot_eager"), keep=True)


def eager():
    return train(loss, keep=False)
