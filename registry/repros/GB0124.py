"""`.item()`, `float(x)`, `int(x)` or `bool(x)` turns a tensor into a Python
number. That number exists only once the graph has run, so Dynamo ends the
graph there."""
import torch

TITLE = ".item() in arithmetic"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}
GRADIENT = {
    "fixed_differentiable": "The gradient also flows through the maximum. In "
    "eager `.item()` stops it there."
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    peak = x.abs().max().item()
    return x / peak


def fixed(x):
    """Use this when the number goes back into tensor arithmetic. Leave it a
    tensor. `.detach()` stops the gradient, as `.item()` does."""
    peak = x.abs().max().detach()
    return x / peak


def fixed_differentiable(x):
    """Use this when you train, and the number should get a gradient, too.
    Leave it a tensor, without `.detach()`."""
    peak = x.abs().max()
    return x / peak


def fixed_flag(x):
    """Use this when you need a Python number. The flag
    `capture_scalar_outputs` keeps `.item()` in the graph (`fullgraph=True`
    turns the flag on for you). The number is still unknown while tracing, so
    an `if` on it ends the graph."""
    peak = x.abs().max().item()
    return x / peak
