"""An operator of torch gets an argument that can't be written into a graph: an
object of your own class, a random generator, a Python function, a buffer of
bytes. Eager accepts it, Dynamo has no way to pass it on."""
import torch

TITLE = "An object for an integer"


class Heads:
    def __index__(self):
        return 4


HEADS = Heads()
COUNT = int(HEADS)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.view(HEADS, 2)


def fixed(x):
    """Use this when the object stands for a plain number. Convert it outside,
    and pass the number."""
    return x.view(COUNT, 2)
