"""Something in a loop breaks the graph. Dynamo can't stop and go on in the
middle of a loop, so it gives up the whole function and Python runs it. Look
for the break that is reported before this one, and remove that."""
import torch
from torch._dynamo.decorators import skip

TITLE = ".item() in a loop"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}
GRADIENT = {
    "fixed_differentiable": "The gradient also flows through the maxima. In "
    "eager `.item()` stops it there."
}


def peak(row):
    return row.max()


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    total = 0.0
    for row in x:
        total += row.max().item()
    return x / total


def fixed(x):
    """Use this when you want to keep the loop. Remove the cause: without
    `.item()` the loop is traced. Like `.item()`, `.detach()` stops the
    gradient."""
    total = 0.0
    for row in x:
        total += row.max().detach()
    return x / total


@skip
def fixed_body(x):
    """Use this when the cause must stay. Compile the body of the loop, up to the
    cause, and not the loop: `@torch.compile` on `peak` (`skip` stands for a loop
    that you don't compile). Each step then runs a graph."""
    total = 0.0
    for row in x:
        total += peak(row).item()
    return x / total


def fixed_vectorised(x):
    """Use this when one operator can replace the loop. Here `amax` does. The
    graph is smaller, too."""
    return x / x.detach().amax(dim=1).sum()


def fixed_differentiable(x):
    """Use this when you train, and the total should get a gradient, too. Leave
    out `.detach()`."""
    return x / x.amax(dim=1).sum()


def fixed_flag(x):
    """Use this when you need Python numbers. With `capture_scalar_outputs` the
    cause is gone, and the loop is traced as it is."""
    total = 0.0
    for row in x:
        total += row.max().item()
    return x / total
