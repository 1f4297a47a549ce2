"""Measure how far two tensors are apart: a piece at a time, so that large ones need no large copies.

Integers of up to 64 bits are measured exactly. The distance of two int64 needs 64 bits itself: it is held in an int64
tensor whose bits are read without a sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

_PIECE = 2**20
_SIGN = -(2**63)
_INTEGER_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_UNSIGNED_FLOAT = getattr(torch, "float8_e8m0fnu", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When two elements count as the same."""

    rtol: float
    atol: float
    max_ulp: int | None
    equal_nan: bool


class Piece(NamedTuple):
    """Some elements of both tensors. Their parts are in columns: one, or a real and an imaginary one."""

    error: Tensor
    size: Tensor
    """|reference|, of those of its parts that are finite."""
    close: Tensor
    reference_parts: Tensor
    test_parts: Tensor
    """Both with 0 where either is not finite."""
    finite: bool
    """Whether any part is finite on both sides."""
    incomparable: int
    """Elements that are NaN or infinite on one side only, or infinite with different signs."""
    ulp: int | None


@dataclass(slots=True)
class Measures:
    """What has been measured so far. Norms are kept scaled: the square of a float64 may be no float64."""

    elements: int = 0
    mismatches: int = 0
    incomparable: int = 0
    max_absolute: float = 0.0
    max_relative: float = 0.0
    max_ulp: int | None = None
    worst: int | None = None
    """The element with the largest error among those that are not close, or among all if all are close."""
    _worst_key: tuple[bool, float] = (False, 0.0)
    _error_sum: float = 0.0
    _error_norm: float = 0.0
    _norms: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _products: list[tuple[float, float, float]] = field(default_factory=list)
    _finite: bool = False

    @property
    def mean_absolute(self) -> float:
        return self._error_sum / self.elements if self.elements else 0.0

    @property
    def rmse(self) -> float:
        return self._error_norm / math.sqrt(self.elements) if self.elements else 0.0

    @property
    def cosine(self) -> float | None:
        """None if no element is finite on both sides."""
        one, other = self._norms
        if not self._finite:
            return None
        if one == 0.0 or other == 0.0:
            return float(one == other)
        cosine = sum(product * (scale / one) * (other_scale / other) for product, scale, other_scale in self._products)
        return max(-1.0, min(1.0, cosine))

    def add(self, piece: Piece) -> None:
        """Account for the elements that follow those seen."""
        before, wrong = self.elements, ~piece.close
        self.elements += piece.error.numel()
        self.mismatches += int(wrong.sum())
        self.incomparable += piece.incomparable
        self._finite |= piece.finite
        relative = torch.where(piece.error == 0, 0.0, piece.error / piece.size).nan_to_num(
            nan=math.inf, posinf=math.inf
        )
        self.max_absolute = max(self.max_absolute, float(piece.error.max()))
        self.max_relative = max(self.max_relative, float(relative.max()))
        if piece.ulp is not None:
            self.max_ulp = max(self.max_ulp or 0, piece.ulp)
        self._error_sum += float(piece.error.sum())
        self._error_norm = math.hypot(self._error_norm, _norm(piece.error))
        self._add_products(piece.reference_parts, piece.test_parts)
        any_wrong = bool(wrong.any())
        place = int((torch.where(wrong, piece.error, -1.0) if any_wrong else piece.error).argmax())
        if (key := (any_wrong, float(piece.error[place]))) > self._worst_key:
            self._worst_key, self.worst = key, before + place

    def _add_products(self, reference: Tensor, test: Tensor) -> None:
        scale, other_scale = float(reference.abs().max()), float(test.abs().max())
        self._norms = [math.hypot(self._norms[0], _norm(reference)), math.hypot(self._norms[1], _norm(test))]
        if scale and other_scale:
            self._products.append((float(((reference / scale) * (test / other_scale)).sum()), scale, other_scale))


def measure(reference: Tensor, test: Tensor, limits: Limits) -> Measures:
    """Measure two dense tensors of one shape, with elements of one kind: integers, real or complex numbers."""
    measures = Measures()
    one, other = reference.reshape(-1), test.reshape(-1)
    for start in range(0, one.numel(), _PIECE):
        measures.add(compare_piece(one[start : start + _PIECE], other[start : start + _PIECE], limits))
    return measures


def compare_piece(reference: Tensor, test: Tensor, limits: Limits) -> Piece:
    """Compare two tensors of one dimension; otherwise as for `measure`."""
    exact = not (reference.dtype.is_floating_point or reference.dtype.is_complex)
    return (_integers if exact else _floats)(*_together(reference, test), limits)


def _together(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Both tensors on one device that has float64."""
    if one.device == other.device and one.device.type in ("cpu", "cuda"):
        return one, other
    return one.cpu(), other.cpu()


def _integers(reference: Tensor, test: Tensor, limits: Limits) -> Piece:
    apart = _distances(_ordered_integers(reference), _ordered_integers(test))
    error = _as_float64(apart)
    one, other = reference.to(torch.float64), test.to(torch.float64)
    # A distance is never rounded to zero, so that these are exact if the tolerances are zero.
    close = error <= limits.atol + limits.rtol * one.abs()
    return Piece(error, one.abs(), close, one, other, True, 0, None)


def _floats(reference: Tensor, test: Tensor, limits: Limits) -> Piece:
    one, other = _parts(reference), _parts(test)
    same = one == other
    if limits.equal_nan:
        same |= one.isnan() & other.isnan()
    finite = one.isfinite() & other.isfinite()
    error = _modulus(torch.where(same, 0.0, torch.where(finite, (one - other).abs(), math.inf)))
    size = _modulus(torch.where(one.isfinite(), one.abs(), 0.0))
    close = error <= limits.atol + limits.rtol * size
    apart = _ulp(reference, test) if reference.dtype == test.dtype else None
    if apart is not None and limits.max_ulp is not None:
        close |= error.isfinite() & ((apart >= 0) & (apart <= limits.max_ulp)).all(-1)
    return Piece(
        error=error,
        size=size,
        close=close,
        reference_parts=torch.where(finite, one, 0.0),
        test_parts=torch.where(finite, other, 0.0),
        finite=bool(finite.any()),
        incomparable=int((~same & ~finite).any(-1).sum()),
        ulp=None if apart is None else _largest(apart),
    )


def _parts(numbers: Tensor) -> Tensor:
    """float64, a row per element."""
    if numbers.dtype.is_complex:
        return torch.view_as_real(numbers.to(torch.complex128).resolve_conj())
    return numbers.to(torch.float64).unsqueeze(-1)


def _modulus(parts: Tensor) -> Tensor:
    return parts[:, 0] if parts.shape[1] == 1 else torch.hypot(parts[:, 0], parts[:, 1])


def _ulp(reference: Tensor, test: Tensor) -> Tensor:
    """How many representable values apart, per part. Infinity comes right after the largest number; NaN counts as 0."""
    one, other = _own_parts(reference), _own_parts(test)
    apart = _distances(_ordered_floats(one), _ordered_floats(other))
    known = ~(one.to(torch.float64).isnan() | other.to(torch.float64).isnan())
    return torch.where(known, apart, 0)


def _own_parts(numbers: Tensor) -> Tensor:
    """As `_parts`, in the tensor's own dtype."""
    if numbers.dtype.is_complex:
        return torch.view_as_real(numbers.resolve_conj()).resolve_neg()
    return numbers.resolve_neg().contiguous().unsqueeze(-1)


def _norm(numbers: Tensor) -> float:
    scale = float(numbers.abs().max())
    if scale == 0.0 or math.isinf(scale):
        return scale
    return scale * float((numbers / scale).square().sum().sqrt())


def _ordered_integers(integers: Tensor) -> Tensor:
    """int64 in the same order and at the same distances; uint64 is shifted to fit."""
    if integers.dtype == torch.uint64:
        return integers.view(torch.int64) ^ _SIGN
    return integers.to(torch.int64)


def _ordered_floats(floats: Tensor) -> Tensor:
    """int64 in which neighbouring floats are neighbouring integers; zero is 0, with either sign."""
    bits = floats.view(_INTEGER_OF_SIZE[floats.dtype.itemsize]).to(torch.int64)
    if floats.dtype == _UNSIGNED_FLOAT:
        return bits & 0xFF
    magnitude = bits & ((1 << (8 * floats.dtype.itemsize - 1)) - 1)
    return torch.where(bits < 0, -magnitude, magnitude)


def _distances(one: Tensor, other: Tensor) -> Tensor:
    """|one - other|, without a sign."""
    return torch.where(one > other, one - other, other - one)


def _largest(unsigned: Tensor) -> int:
    """The largest of some distances, exactly."""
    return int((unsigned ^ _SIGN).max()) + 2**63


def _as_float64(unsigned: Tensor) -> Tensor:
    """Distances as floats, rounded to the nearest."""
    return unsigned.to(torch.float64) + (unsigned < 0).to(torch.float64) * 2.0**64
