"""The compiled function calls a helper with `functools.lru_cache`. Dynamo traces
the helper itself and leaves the cache out."""

import functools

import torch


@functools.lru_cache
def scale(n):
    return n * 2


def scaled(x):
    return x * scale(3)


def message():
    torch.compile(scaled, backend="eager")(torch.ones(4))


def fixed_plain():
    """Use this when the helper is cheap: a compiled function does not need the cache."""

    def plain(x):
        return x * scale.__wrapped__(3)

    return torch.compile(plain, backend="eager")(torch.ones(4))


def fixed_before():
    """Use this when the helper must run once: call it before, and pass the result."""
    return torch.compile(lambda x, factor: x * factor, backend="eager")(torch.ones(4), scale(3))


def eager():
    return scaled(torch.ones(4))
