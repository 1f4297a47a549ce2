"""The program calls an object that isn't written in Python, here one that
`operator.itemgetter` made. Dynamo finds no `__call__` in Python that it could
trace. The message names the object."""
import operator

import torch

TITLE = "An itemgetter"
REQUIRES = {"release": ">=2.14"}
get_scores = operator.itemgetter("scores")


def inputs():
    return ({"scores": torch.randn(8), "mask": torch.rand(8)},)


def broken(batch):
    return get_scores(batch).softmax(0)


def fixed(batch):
    """Use this when you can change the call. Write what the object does: here
    that is an index."""
    return batch["scores"].softmax(0)


def fixed_inside(batch):
    """Use this when you want to keep the `itemgetter`. Make it inside the
    compiled function: Dynamo has its own version of `itemgetter` there."""
    return operator.itemgetter("scores")(batch).softmax(0)
