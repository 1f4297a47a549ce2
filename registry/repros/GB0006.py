"""The parent's method is wrapped by `functools.lru_cache`, so what `super()`
finds is a C object that caches. Dynamo has no rule for calling such an object
through `super()`."""
import functools

import torch


class Base:
    @functools.lru_cache
    def width(self, n):
        return 2 * n

    def plain_width(self, n):
        return 2 * n


class Child(Base):
    def pad(self, x):
        return torch.nn.functional.pad(x, (0, super().width(len(x))))

    def pad_uncached(self, x):
        return torch.nn.functional.pad(x, (0, super().plain_width(len(x))))

    def pad_by_self(self, x):
        return torch.nn.functional.pad(x, (0, self.width(len(x))))


CHILD = Child()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return CHILD.pad(x)


def fixed(x):
    """Use this when the method is cheap. Leave the cache out: compiled code
    computes such numbers once, while tracing."""
    return CHILD.pad_uncached(x)


def fixed_self(x):
    """Use this when the class doesn't override the method. Call it on `self`.
    There Dynamo looks through the cache, and warns you that it does."""
    return CHILD.pad_by_self(x)
