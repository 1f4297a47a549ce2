"""The condition of a `while_loop` returns one truth value per element. It
has to be a single one: a bool, or a bool tensor without dimensions."""
import torch

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: x < 9, lambda x: (x + 1,), (x,))


def fixed(x):
    """Say when the loop goes on: while `any()` element is below, or `all()`."""
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: (x < 9).any(), lambda x: (x + 1,), (x,))
