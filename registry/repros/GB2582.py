"""An `if` asks a logger whether it is true, and the class of the logger has a
`__bool__`. Dynamo has a special stand-in for loggers, and the stand-in doesn't
call `__bool__`."""
import logging

import torch

REACH = "contrived"
NEIGHBOUR = "GB0291"
REQUIRES = {"release": ">=2.15"}


class QuietLogger(logging.Logger):
    def __bool__(self):
        return False


LOGGER = QuietLogger("model")
LOGS = bool(LOGGER)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return (x.sin(), x.mean()) if LOGGER else (x.sin(), None)


def fixed(x):
    """Use this when the answer doesn't change. Ask once, before you
    compile."""
    return (x.sin(), x.mean()) if LOGS else (x.sin(), None)
