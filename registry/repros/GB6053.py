"""`repr` of a logger. Dynamo has a special stand-in for loggers, and that
one can't say what the text is."""
import logging

import torch

REACH = "contrived"
NEIGHBOUR = "GB0291"
LOGGER = logging.getLogger("train")
LABEL = repr(LOGGER)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return {repr(LOGGER): x.sin()}


def fixed(x):
    """The logger doesn't change between calls: make the text once, outside."""
    return {LABEL: x.sin()}
