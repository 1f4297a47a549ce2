"""The `id` of a list made inside the compiled function is compared with
another one. That list exists only while Dynamo traces, so Dynamo doesn't know
the `id` that it would have."""
import torch

DEFAULTS = [2.0, 3.0]


def inputs():
    return (torch.randn(8),)


def broken(x):
    scales = [4.0, 5.0]
    return x.sin() if id(scales) == id(DEFAULTS) else x * scales[0]


def fixed(x):
    """Use this when you ask whether two names mean the same object. Use `is`:
    Dynamo knows the answer."""
    scales = [4.0, 5.0]
    return x.sin() if scales is DEFAULTS else x * scales[0]
