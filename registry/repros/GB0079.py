"""A function contains a `type` statement, which Python has from 3.12 on.
Dynamo has no rule for the instruction behind it."""

import torch

REACH = "contrived"
NEIGHBOUR = "GB8977"
REQUIRES = {"python": ">=3.12"}

# As text, since older Pythons can't read it.
SOURCE = """
def doubled(x):
    type Rows = list[float]
    return x * 2
"""
exec(compile(SOURCE, __file__, "exec"))
doubled = globals()["doubled"]


def inputs():
    return (torch.randn(8),)


def broken(x):
    return doubled(x).sin()


SOURCE_OUTSIDE = """
type Rows = list[float]

def doubled_outside(x):
    return x * 2
"""
exec(compile(SOURCE_OUTSIDE, __file__, "exec"))
doubled_outside = globals()["doubled_outside"]


def fixed(x):
    """Use this when the type uses no names from inside the function. Put the
    `type` statement outside of the function."""
    return doubled_outside(x).sin()
