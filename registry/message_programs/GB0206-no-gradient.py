"""The compiled function sets `requires_grad` of a tensor, but computes no
gradient itself. With `fullgraph=True` that is an error, else a graph break."""
import torch
from torch.utils.checkpoint import checkpoint

LAYER = torch.nn.Linear(4, 4)


def encode(x):
    y = x[:, None]
    y.requires_grad = True
    return LAYER(y).sin()


def call(function, *, requires_grad=False):
    x = torch.arange(12.0).reshape(3, 4).requires_grad_(requires_grad)
    result = function(x)
    return result.detach(), torch.autograd.grad(result.sum(), LAYER.parameters())


def message():
    return call(torch.compile(encode, backend="eager", fullgraph=True))


def fixed():
    """Use this when you do not need the gradient of this tensor: leave the line
    out. The parameters get the same gradients."""

    def plain_encode(x):
        return LAYER(x[:, None]).sin()

    return call(torch.compile(plain_encode, backend="eager", fullgraph=True))


def fixed_before():
    """Use this when the gradient is needed later: set `requires_grad` of the
    input, before you call the compiled function."""

    def plain_encode(x):
        return LAYER(x[:, None]).sin()

    compiled = torch.compile(plain_encode, backend="eager", fullgraph=True)
    return call(compiled, requires_grad=True)


def fixed_checkpoint():
    """Use this when the line is there for checkpointing: with
    `use_reentrant=False` it is not needed."""

    def plain_encode(x):
        return checkpoint(LAYER, x[:, None], use_reentrant=False).sin()

    return call(torch.compile(plain_encode, backend="eager", fullgraph=True))


def eager():
    return call(encode)
