"""Exact distances between numbers of up to 64 bits.

The distance of two int64 needs 64 bits itself: it is held in an int64 tensor whose bits are read without a sign.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SIGN = -(2**63)
_INTEGER_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_UNSIGNED_FLOAT = getattr(torch, "float8_e8m0fnu", None)


def ordered_integers(integers: Tensor) -> Tensor:
    """int64 in the same order and at the same distances; uint64 is shifted to fit."""
    if integers.dtype == torch.uint64:
        return integers.view(torch.int64) ^ _SIGN
    return integers.to(torch.int64)


def ordered_floats(floats: Tensor) -> Tensor:
    """int64 in which neighbouring floats are neighbouring integers; zero is 0, with either sign."""
    bits = floats.view(_INTEGER_OF_SIZE[floats.dtype.itemsize]).to(torch.int64)
    if floats.dtype == _UNSIGNED_FLOAT:
        return bits & 0xFF
    magnitude = bits & ((1 << (8 * floats.dtype.itemsize - 1)) - 1)
    return torch.where(bits < 0, -magnitude, magnitude)


def distances(one: Tensor, other: Tensor) -> Tensor:
    """|one - other|, without a sign."""
    return torch.where(one > other, one - other, other - one)


def largest(unsigned: Tensor) -> int:
    """The largest of some distances, exactly."""
    return int((unsigned ^ _SIGN).max()) + 2**63


def as_float64(unsigned: Tensor) -> Tensor:
    """Distances as floats: the nearest there is."""
    return unsigned.to(torch.float64) + (unsigned < 0).to(torch.float64) * 2.0**64
