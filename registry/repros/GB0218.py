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
    """Use this when you index a tensor. It takes a tensor as the index."""
    best = scores.argmax()
    return rows[best].sin()
