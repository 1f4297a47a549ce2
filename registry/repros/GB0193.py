"""`str(data, "utf-8")` decodes bytes. Dynamo's rule for `str` takes a single
argument, and a `bytearray` is no constant that it could decode in advance."""
import torch

NAMES = bytearray(b"sin,cos")


def inputs():
    return (torch.randn(8),)


def broken(x):
    first, second = str(NAMES, "utf-8").split(",")
    return getattr(x, first)() + getattr(x, second)()


NAMES_TEXT = str(NAMES, "utf-8")


def fixed(x):
    """Use this when the bytes don't change. Decode them once, outside the
    compiled function."""
    first, second = NAMES_TEXT.split(",")
    return getattr(x, first)() + getattr(x, second)()
