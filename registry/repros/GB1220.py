"""`==` between two `SimpleNamespace` objects runs C code. Dynamo can't trace
it, and doesn't know whether it is safe to call while tracing."""
import types

import torch

USED = types.SimpleNamespace(scale=2.0, bias=1.0)
DEFAULT = types.SimpleNamespace(scale=2.0, bias=1.0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * USED.scale if USED == DEFAULT else x


def fixed(x):
    """Use this when you want to compare all attributes of two namespaces.
    Compare the dicts that hold them, with `vars`: Dynamo knows how to."""
    return x * USED.scale if vars(USED) == vars(DEFAULT) else x
