"""`operator.index` wants the tensor's value as a Python integer. While Dynamo
traces there are no values yet."""
import operator

import torch

REQUIRES = {"release": "<2.12"}


def inputs():
    return torch.randn(8), torch.randn(8, 4)


def broken(scores, rows):
    best = operator.index(scores.argmax())
    return rows[best].sin()


def fixed(scores, rows):
    """Use this when you index a tensor. `index_select` takes the index as a
    tensor, and needs no Python number."""
    best = scores.argmax(0, keepdim=True)
    return rows.index_select(0, best)[0].sin()
