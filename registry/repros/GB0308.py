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
    """Use this when the condition compares a whole tensor. Reduce it to one
    value: go on while `any()` element is below the limit, or while `all()`
    are."""
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: (x < 9).any(), lambda x: (x + 1,), (x,))
