"""`contextlib.closing` is one of the context managers of the standard library
that Dynamo refuses to trace."""
import contextlib

import torch


class Session:
    scale = 2.0

    def close(self):
        self.scale = 0.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    with contextlib.closing(Session()) as session:
        x = x * session.scale
    return x + session.scale


def fixed(x):
    """Use this when an object must be closed at the end of a block. Write out
    what `closing` does: call `close` in a `finally`."""
    session = Session()
    try:
        x = x * session.scale
    finally:
        session.close()
    return x + session.scale
