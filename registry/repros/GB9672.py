"""The base classes of a class are read by calling the descriptor behind
`__mro__`, with the class and its type. Dynamo knows that call only with one
argument."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0156"
REQUIRES = {"release": ">=2.11,<2.13"}
bases_of = type.__dict__["__mro__"].__get__


class Net:
    scale = 2.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / len(bases_of(Net, type))


def fixed(x):
    """Use this when a metaclass may hide `__mro__`, and you need the
    descriptor. Give it only the class: the type is optional."""
    return x / len(bases_of(Net))


def fixed_attribute(x):
    """Use this when no metaclass hides `__mro__`. Read the attribute."""
    return x / len(Net.__mro__)
