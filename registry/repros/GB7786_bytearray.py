"""`bytearray` is written in C, and Dynamo has no rule for writing an item of
one. So it leaves the assignment to Python."""
import torch

TITLE = "bytearray"
REQUIRES = {"release": ">=2.13"}
REACH = "contrived"
NEIGHBOUR = "GB4880"
EFFECTS = {"fixed": "A list holds the size, and no longer a bytearray."}
LAST_SIZE = bytearray(1)
LAST_SIZE_LIST = [0]


def inputs():
    return (torch.randn(8),)


def broken(x):
    LAST_SIZE[0] = len(x)
    return x / len(x)


def fixed(x):
    """Use this when you don't need the compact C layout. Use a list. Dynamo
    follows the assignment and repeats it on the real list after the graph has
    run."""
    LAST_SIZE_LIST[0] = len(x)
    return x / len(x)
