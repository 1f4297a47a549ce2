"""An exception that was made outside the compiled code is thrown into a
generator. Dynamo doesn't see an exception in it, only an object."""
import torch

REQUIRES = {"release": ">=2.11,<2.12"}

STOP = ValueError("stop")


def steps(x):
    try:
        yield x.sin()
    except ValueError:
        yield x.cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    waiting = steps(x)
    return next(waiting) + waiting.throw(STOP)


def fixed(x):
    """Use this when nobody needs this very object. Make the exception where
    you throw it."""
    waiting = steps(x)
    return next(waiting) + waiting.throw(ValueError("stop"))
