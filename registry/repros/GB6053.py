"""The program calls `repr` on a logger. Dynamo has a special stand-in for
loggers, and the stand-in doesn't know that text."""
import logging

import torch

REACH = "contrived"
NEIGHBOUR = "GB0291"
LOGGER = logging.getLogger("train")
LOGGER.setLevel("INFO")
LABEL = repr(LOGGER)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return {repr(LOGGER): x.sin()}


def fixed(x):
    """Use this when the logger doesn't change between calls. Make the text
    once, outside."""
    return {LABEL: x.sin()}
