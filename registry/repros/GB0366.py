"""A frozen dataclass is the key of a dict, and one of its fields is a kind of
object that Dynamo has no hash for: here a dtype of NumPy. The hash of the
dataclass is made from the hashes of its fields."""
from dataclasses import dataclass

import numpy
import torch

REQUIRES = {"module": "numpy", "release": ">=2.10,<2.13"}


@dataclass(frozen=True)
class Column:
    name: str
    dtype: numpy.dtype


@dataclass(frozen=True)
class PlainColumn:
    name: str
    dtype: str


SCALES = {Column("price", numpy.dtype("float32")): 0.01}
PLAIN_SCALES = {
    PlainColumn(column.name, column.dtype.name): scale
    for column, scale in SCALES.items()
}
price = Column("price", numpy.dtype("float32"))
plain_price = PlainColumn("price", "float32")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[price]


def fixed(x):
    """Use this when you can change the dataclass. Keep the name of the dtype,
    a string, in the field."""
    return x * PLAIN_SCALES[plain_price]
