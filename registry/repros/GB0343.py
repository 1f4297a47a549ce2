"""The function of a `scan` returns three things. It must return two: what is
carried to the next step, and what this step puts out."""
import torch
from torch._higher_order_ops import scan

REACH = "private"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}
EAGER_RAISES = "UncapturedHigherOrderOpError"


def inputs():
    return (torch.randn(4, 3),)


def broken(x):
    return scan(lambda c, row: (c + row, c.sin(), c.cos()), x[0], x)


def fixed(x):
    """Put all that a step puts out in one container. Inductor needs the flag
    `capture_scalar_outputs` for a scan; with it, `.item()` elsewhere also
    stays in the graph, as a number not known yet."""
    return scan(lambda c, row: (c + row, (c.sin(), c.cos())), x[0], x)
