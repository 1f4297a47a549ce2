"""A value is sent to a generator that waits in `yield from`. It is meant for
the inner generator, and Dynamo doesn't pass it on."""
import torch


def scaled(x):
    scale = yield x.abs().max()
    yield x / scale


def delegated(x):
    yield from scaled(x)


def forwarded(x):
    inner = scaled(x)
    scale = yield next(inner)
    yield inner.send(scale)


def inputs():
    return (torch.randn(8),)


def broken(x):
    steps = delegated(x)
    peak = next(steps)
    return steps.send(peak)


def fixed(x):
    """Use this when the outer generator adds nothing. Use the inner one."""
    steps = scaled(x)
    peak = next(steps)
    return steps.send(peak)


def fixed_forward(x):
    """Use this when the outer generator does more. Let it pass the values on
    with `send`."""
    steps = forwarded(x)
    peak = next(steps)
    return steps.send(peak)
