"""The function deletes an attribute that it has already deleted. Python raises
`AttributeError`, and the program counts on that; Dynamo gives up instead."""
import torch


class State:
    def __init__(self):
        self.cache = 1.0


def inputs():
    return State(), torch.randn(4)


def broken(state, x):
    del state.cache
    try:
        del state.cache
    except AttributeError:
        x = x + 1
    return x * 2


def fixed(state, x):
    """Use this when the attribute may already be gone. Ask with `hasattr`
    before you delete it."""
    del state.cache
    if hasattr(state, "cache"):
        del state.cache
    else:
        x = x + 1
    return x * 2
