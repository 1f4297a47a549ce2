"""A generic type like `list[int]` is a dict key. Its hash is computed in C,
and Dynamo doesn't know whether that is safe to call while tracing."""
import torch

SCALES = {list[int]: 2.0, list[float]: 3.0}
SCALES_BY_NAME = {str(hint): scale for hint, scale in SCALES.items()}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[list[int]]


def fixed(x):
    """Use this when the text of a type is enough to find the value. Use that
    text as the key: Dynamo knows the hash of a string."""
    return x * SCALES_BY_NAME["list[int]"]
