"""A class method of a tensor subclass is wrapped by `functools.lru_cache`. It
then holds a C object instead of a Python function, and Dynamo has no code to
trace."""
import functools

import torch


class Sound(torch.Tensor):
    @classmethod
    @functools.lru_cache
    def gain(cls, n):
        return 2 ** n

    @staticmethod
    @functools.lru_cache
    def static_gain(n):
        return 2 ** n

    @classmethod
    def plain_gain(cls, n):
        return 2 ** n


def inputs():
    return (torch.randn(8).as_subclass(Sound),)


def broken(x):
    return x * x.gain(x.dim())


def fixed(x):
    """Use this when the method is cheap. Leave the cache out: compiled code
    computes such numbers once, while tracing."""
    return x * x.plain_gain(x.dim())


def fixed_static(x):
    """Use this when eager code needs the cache, and the method doesn't use
    `cls`. Make it a cached static method. Dynamo traces the function below the
    cache, and warns."""
    return x * x.static_gain(x.dim())
