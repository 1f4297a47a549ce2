"""The fields of a `ctypes.Structure` are written by C code, and Dynamo has no
rule for that."""
import ctypes
import dataclasses

import torch


class Point(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_double)]


@dataclasses.dataclass
class PlainPoint:
    scale: float


POINT = Point(1.0)
PLAIN_POINT = PlainPoint(1.0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    POINT.scale = 2.0
    return x * POINT.scale


def fixed(x):
    """Use this when the compiled code needs no C layout. Use a dataclass
    there, and fill in the structure where you call C."""
    PLAIN_POINT.scale = 2.0
    return x * PLAIN_POINT.scale
