"""`str.format` with a dynamic size gives a string that is known only when the
code runs. Dynamo must know the name of an attribute in order to delete it."""
import torch

COMPILE = {"dynamic": True}


class Cache:
    def drop(self, name):
        super().__delattr__(name)


CACHE = Cache()


def inputs():
    CACHE.rows8 = 3
    return (torch.randn(8),)


def broken(x):
    CACHE.drop("rows{}".format(len(x)))
    return x.sin()


def fixed(x):
    """Use this when there are few sizes. An f-string makes Dynamo take the
    size as a constant. It compiles again for every other size."""
    CACHE.drop(f"rows{len(x)}")
    return x.sin()
