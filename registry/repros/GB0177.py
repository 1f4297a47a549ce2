"""A class method is wrapped by `functools.lru_cache`. It then holds a C object
instead of a Python function, and Dynamo has no code to trace."""
import functools

import torch


class Bank:
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


BANK = Bank()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * BANK.gain(x.dim())


def fixed(x):
    """The method is cheap: leave the cache out. Compiled code computes such
    numbers once, while tracing."""
    return x * BANK.plain_gain(x.dim())


def fixed_static(x):
    """Eager code needs the cache, and the method doesn't use `cls`: a cached
    static method works. Dynamo traces what is below the cache, and warns."""
    return x * BANK.static_gain(x.dim())
