"""Dynamo meets an object that is not an input and no global variable, such as
a default value or the value of an enum member. Its class has no rule of its
own, so Dynamo can't say where it comes from, and gives up."""
import enum
from fractions import Fraction

import torch

TITLE = "An enum value"


class Ratio(enum.Enum):
    FILM = Fraction(3, 2)
    SCREEN = Fraction(16, 9)


NUMERATORS = {ratio.name: ratio.value.numerator for ratio in Ratio}


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * Ratio["FILM"].value.numerator


def fixed(x):
    """Use this when the name is fixed in the code. Write the member itself:
    `Ratio.FILM`."""
    return x * Ratio.FILM.value.numerator


def fixed_table(x):
    """Use this when the name varies. Look up a plain number in a dict that you
    make outside."""
    return x * NUMERATORS["FILM"]
