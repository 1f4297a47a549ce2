"""`itertools.cycle` repeats a list. Dynamo calls `next()` on the list itself,
and a list is not an iterator."""
import itertools

import torch

TITLE = "itertools.cycle"
REQUIRES = {"release": "<2.9"}


def inputs():
    return (torch.randn(5, 4),)


def broken(rows):
    signs = itertools.cycle([1, -1])
    return [row.sin() * next(signs) for row in rows]


def fixed(rows):
    """Use this when you count the items anyway. Take the remainder of the
    count as the index. (Don't pass `cycle` an iterator: this torch then
    repeats only the last item, without a word.)"""
    signs = [1, -1]
    return [row.sin() * signs[i % 2] for i, row in enumerate(rows)]
