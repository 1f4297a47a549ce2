"""The annotation of an inner function is evaluated where the function is
defined, so Dynamo must compute `List[Token]`. `Token` comes from `NewType`,
and Dynamo doesn't treat that object as a constant."""
from typing import List, NewType

import torch

Token = NewType("Token", int)
Tokens = List[Token]


def inputs():
    return (torch.randn(8),)


def broken(x):
    def total(tokens: List[Token]):
        return sum(tokens)

    return x * total([1, 2])


def fixed(x):
    """Use this when the annotation must stay a real type. Give the type a name
    at module level, and annotate with the name."""
    def total(tokens: Tokens):
        return sum(tokens)

    return x * total([1, 2])


def fixed_string(x):
    """Use this when the annotation is only for readers and type checkers.
    Write it as a string, which Python doesn't evaluate."""
    def total(tokens: "List[Token]"):
        return sum(tokens)

    return x * total([1, 2])
