"""Sequences have many lengths, and `dynamic=False` was given to
`torch.compile`: then every length gets a version of its own."""
import torch
from torch._dynamo.decorators import skip

TITLE = "Many shapes"
COMPILE = {"dynamic": False}


def encode(x):
    return x.square().tanh().sum()


def inputs():
    return ([torch.randn(length) for length in range(3, 13)],)


# `skip`: the loop is left to Python, and what it calls is compiled.
@skip
def broken(sequences):
    found = []
    for x in sequences:
        found.append(encode(x))
    return found


@skip
def fixed(sequences):
    """Use this when you know which dimension changes. Name it with
    `mark_dynamic`, and one version serves all lengths. Without
    `dynamic=False`, you don't need this: Dynamo finds it out at the second
    length."""
    found = []
    for x in sequences:
        torch._dynamo.mark_dynamic(x, 0)
        found.append(encode(x))
    return found


@skip
def fixed_pad(sequences):
    """Use this when you want fixed shapes. Fill up with zeros to a few sizes.
    If the zeros would change the result, use a mask."""
    found = []
    for x in sequences:
        filled = x.new_zeros(-(-len(x) // 8) * 8)
        filled[: len(x)] = x
        found.append(encode(filled))
    return found
