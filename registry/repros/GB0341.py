"""The scan operator was called with a `functools.partial`. Dynamo takes a
partial as a sign that torch's own wrapper made the call, and the wrapper
passes only two arguments by position."""
import functools

import torch

REACH = "private"
COMPILE = {"backend": "eager"}


def inputs():
    return (torch.randn(8),)


def combine(a, b, limit):
    return [torch.maximum(a, b).clamp(max=limit)]


def broken(x):
    step = functools.partial(combine, limit=1)
    return torch.ops.higher_order.associative_scan(step, [x], ())


def fixed(x):
    """Use this when the combining function has extra parameters. Pass a
    `lambda` that adds them."""
    scan = torch.ops.higher_order.associative_scan
    return scan(lambda a, b: combine(a, b, 1), [x], ())
