"""`int` makes a number of a NumPy result, and Dynamo turned NumPy's function
into a torch operation. With `fullgraph=True` that is an error, else a graph
break."""
import math

import numpy as np
import torch

SIZES = [3]


def scale(x):
    return x * int(np.sum(SIZES)) / int(np.prod(x.shape))


def message():
    return torch.compile(scale, backend="eager", fullgraph=True)(torch.ones(4))


def fixed():
    """Use this when the numbers are no tensors: compute with plain Python, for
    example `sum`, `max` or `math.prod`."""

    def plain_scale(x):
        return x * sum(SIZES) / math.prod(x.shape)

    compiled = torch.compile(plain_scale, backend="eager", fullgraph=True)
    return compiled(torch.ones(4))


def eager():
    return scale(torch.ones(4))
