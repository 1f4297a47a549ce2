"""The function of a `scan` returns three things. It must return two: what is
carried to the next step, and the output of this step."""
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
    """Use this when a step has several outputs. Put all of them in one
    container. Inductor needs the flag `capture_scalar_outputs` for a scan.
    With it, `.item()` elsewhere also stays in the graph, as a number not known
    yet."""
    return scan(lambda c, row: (c + row, (c.sin(), c.cos())), x[0], x)
