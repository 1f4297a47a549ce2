"""A subclass of `torch.Stream` has a `record_event` that returns a number.
Dynamo takes the result for an event and wants to keep a weak reference to it,
and a number allows none."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0249"


class Numbered(torch.Stream):
    def record_event(self):
        return 7


def number(stream):
    return 7


STREAM = Numbered(device="cpu")


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x + STREAM.record_event()


def fixed(x):
    """Use this when you want a number and not an event. Leave the stream's own
    methods as they are, and write a function of your own."""
    return x + number(STREAM)
