"""A class is a logger and a deque at once. Dynamo has a special stand-in for
loggers, and the stand-in has no rule for assigning to an item."""

import collections
import logging

import torch

TITLE = "A logger that is a deque"
REACH = "contrived"
NEIGHBOUR = "GB0291"
REQUIRES = {"release": ">=2.14"}
EFFECTS = {"fixed": "The sizes are in a deque beside the logger, and no longer in the logger."}


class Recent(logging.Logger, collections.deque):
    pass


RECENT = Recent("model")
RECENT.append(0)
SIZES = collections.deque([0])


def inputs():
    return (torch.randn(8),)


def broken(x):
    RECENT[0] = len(x)
    return x.sin()


def fixed(x):
    """Use this when you only need the deque here. Keep it beside the logger:
    Dynamo knows a plain deque."""
    SIZES[0] = len(x)
    return x.sin()
