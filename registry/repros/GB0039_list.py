"""A list is longer in every call: a history, a cache of keys and values.
Dynamo unrolls a loop over a list, so each length needs a version."""
import torch
from torch._dynamo.decorators import skip

TITLE = "A list that grows"
LIMITS = {
    "fixed": {
        "dtype": "In float16 the sums are rounded at other places. That of a "
        "tensor is more exact than that of a list."
    }
}


def average(history):
    return sum(history) / len(history)


def average_tensor(history):
    return history.sum(0) / len(history)


def inputs():
    return (torch.randn(10, 4),)


# `skip`: the loop is left to Python, and what it calls is compiled.
@skip
def broken(steps):
    history, found = [], []
    for step in steps:
        history.append(step)
        found.append(average(history))
    return found


@skip
def fixed(steps):
    """Use this when all items have the same shape. Keep them in a tensor.
    Dynamo treats a length that changes as dynamic, so one version serves all
    lengths above 1."""
    history, found = steps[:0], []
    for step in steps:
        history = torch.cat([history, step[None]])
        found.append(average_tensor(history))
    return found
