"""Two type hints are compared by calling the method `__eq__` of one of them.
Dynamo compares type hints, but calls none of their methods."""
from typing import List

import torch

REACH = "contrived"
NEIGHBOUR = "GB2861"

Shape = List[int]


def inputs():
    return (torch.randn(8),)


def broken(x):
    flat = Shape.__eq__(List[int])
    return x.view(2, 4) if flat else x


def fixed(x):
    """Use this when you want to compare two type hints. Write the comparison
    with the operator `==`."""
    flat = Shape == List[int]
    return x.view(2, 4) if flat else x
