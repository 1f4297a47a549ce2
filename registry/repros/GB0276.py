"""An event comes in through `weakref.proxy`. Dynamo keeps a weak reference to
each event or stream it meets, and a proxy can't be weakly referenced."""
import weakref

import torch

REACH = "contrived"
NEIGHBOUR = "GB0249"
EVENT = torch.Event(device="cpu")
PROXY = weakref.proxy(EVENT)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x.sin() if PROXY.query() else x.cos()


def fixed(x):
    """Use this when you have the event itself. Use it instead of the proxy."""
    return x.sin() if EVENT.query() else x.cos()
