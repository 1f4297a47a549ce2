"""The program asks for a bare instance of an abstract class, and catches the
error that Python raises. Dynamo can't make one to work with, and gives up."""
import abc
import inspect

import torch

REACH = "contrived"
NEIGHBOUR = "GB2404"


class Layer(abc.ABC):
    @abc.abstractmethod
    def run(self, x): ...


ABSTRACT = inspect.isabstract(Layer)


def inputs():
    return (torch.randn(4),)


def broken(x):
    try:
        Layer.__new__(Layer)
    except TypeError:
        x = x.sin()
    return x + 1


def fixed(x):
    """Use this when the class doesn't change. Ask once, outside, whether it is
    abstract."""
    if ABSTRACT:
        x = x.sin()
    return x + 1
