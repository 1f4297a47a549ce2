"""Dynamo traces the function again after a break at `y.data = ...`, and the
second time it goes another way: into a context manager in which it can't
break the graph. A function marked with `assume_constant_result` gave it two
different answers."""
import contextlib

import torch

REACH = "contrived"
NEIGHBOUR = "GB0056"
REQUIRES = {"release": "<2.10"}

attempts = []


@torch.compiler.assume_constant_result
def is_first():
    attempts.append("one more")
    return len(attempts) == 1


@torch.compiler.assume_constant_result
def is_small():
    return True


class Section:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.sin()
    managers = Section(), contextlib.nullcontext()
    with managers[is_first()]:
        y.data = y.data.clamp(-0.5, 0.5)
    attempts.clear()
    return y + 1


def fixed(x):
    """Use this when you mark a function with `assume_constant_result`. It must
    return the same each time. Then remove the break itself: write in place
    under `no_grad` instead of using `.data`."""
    y = x.sin()
    managers = Section(), contextlib.nullcontext()
    with managers[is_small()], torch.no_grad():
        y.clamp_(-0.5, 0.5)
    return y + 1
