"""Dynamo knows `collections.deque`, but not a subclass of it: it can't read
an item of one, since the code for that is written in C."""
import collections

import torch


class History(collections.deque):
    def oldest(self):
        return self[0]


SCALES = History([2.0, 3.0])


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES.oldest()


class HistoryWithDeque:
    def __init__(self, items):
        self.items = collections.deque(items)

    def oldest(self):
        return self.items[0]


SCALES_WITH_DEQUE = HistoryWithDeque([2.0, 3.0])
PLAIN_SCALES = collections.deque([2.0, 3.0])


def fixed(x):
    """Use this when you need the methods of your class. Let the class hold a
    deque, instead of being one. Code that wants a deque gets `.items`."""
    return x * SCALES_WITH_DEQUE.oldest()


def fixed_plain(x):
    """Use this when your class adds nothing that you need here. Use a plain
    deque."""
    return x * PLAIN_SCALES[0]
