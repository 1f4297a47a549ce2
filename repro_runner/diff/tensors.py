"""Compare two tensors: in float64, or exactly where they are integers, and say in words what is wrong.

    result = compare_tensors(reference, test)
    result.passed, result.max_absolute_error, result.max_ulp, result.reason

Neither tensor is changed, and however large they are, little memory is taken beside them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.config import ComparisonConfig, plain_number
from repro_runner.diff.measures import Limits, Measures, measure
from repro_runner.minifier.parts.backends import is_rounding
from repro_runner.values import unlike_properties

Number = bool | int | float | complex


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorComparison:
    """How far `test` is from `reference`.

    An element that is NaN or infinite on one side only is infinitely wrong. Where shapes differ nothing can be
    measured: errors are infinite, and everything is mismatched.
    """

    passed: bool
    reason: str
    """Why it did not pass; empty if it did."""
    dtype: str
    shape: tuple[int, ...]
    """Of the reference."""
    rtol: float
    atol: float
    elements: int = 0
    mismatches: int = 0
    nonfinite_mismatches: int = 0
    """Those of the mismatches that are NaN or infinite on one side only, or infinities of different sign."""
    max_absolute_error: float = math.inf
    mean_absolute_error: float = math.inf
    max_relative_error: float = math.inf
    """Relative to the reference; infinite where that is zero and the test is not."""
    rmse: float = math.inf
    max_ulp: int | None = None
    """The most representable values between two elements, NaN left out; None for integers and different dtypes."""
    cosine_similarity: float | None = None
    """Of what is finite on both sides; None if nothing is."""
    worst_index: tuple[int, ...] | None = None
    """Where the largest error is, among the mismatches if there are any; None if there is no error at all."""
    worst_reference: Number | None = None
    worst_test: Number | None = None
    rounding: bool = False
    """Some elements differ by more than the tolerance, and still nothing is wrong: the test has what float64 gives, or
    the reference is hardly nearer to that."""

    @property
    def mismatch_percentage(self) -> float:
        if self.elements:
            return 100.0 * self.mismatches / self.elements
        return 0.0 if self.passed else 100.0

    def to_document(self) -> dict[str, Any]:
        """Plain JSON values."""
        numbers = {
            name: plain_number(getattr(self, name))
            for name in (
                *("elements", "mismatches", "nonfinite_mismatches", "mismatch_percentage", "max_absolute_error"),
                *("mean_absolute_error", "max_relative_error", "rmse", "max_ulp", "cosine_similarity", "rtol", "atol"),
                *("worst_reference", "worst_test"),
            )
        }
        index = None if self.worst_index is None else list(self.worst_index)
        described = {name: getattr(self, name) for name in ("passed", "reason", "rounding", "dtype")}
        return {**described, "shape": list(self.shape), **numbers, "worst_index": index}


def compare_tensors(
    reference: Tensor | Number, test: Tensor | Number, config: ComparisonConfig | None = None, exact: Any = None
) -> TensorComparison:
    """Compare two tensors, or numbers; a number may stand for a tensor without dimensions. `exact` is what the same
    program gives in float64, if that is known: what is no more than rounding passes."""
    config = config or ComparisonConfig()
    one, other = _as_tensor(reference), _as_tensor(test)
    rtol, atol = _tolerance(reference, test, config)
    described: dict[str, Any] = {
        "dtype": str(one.dtype).removeprefix("torch."),
        "shape": _sizes(one),
        "rtol": rtol,
        "atol": atol,
    }
    if obstacle := _obstacle(one, other):
        return TensorComparison(passed=False, reason=obstacle, **described)
    tensors = isinstance(reference, Tensor) and isinstance(test, Tensor)
    complaints = _complaints(one, other, config) if tensors else []
    one, other = comparable(one, other)
    limits = Limits(rtol=rtol, atol=atol, max_ulp=config.max_ulp, equal_nan=config.equal_nan)
    measures = measure(one, other, limits)
    worst = None if measures.worst is None else _unravelled(measures.worst, described["shape"])
    values = (None, None) if measures.worst is None else (_at(one, measures.worst), _at(other, measures.worst))
    comparable_at_all = tensors and (config.equal_nan or not measures.incomparable)
    rounding = bool(measures.mismatches) and comparable_at_all and _is_rounding(reference, test, exact)
    if measures.mismatches and not rounding:
        complaints.append(_mismatch(measures, limits, worst, values))
    return TensorComparison(
        passed=not complaints,
        reason="; ".join(complaints),
        elements=measures.elements,
        mismatches=measures.mismatches,
        nonfinite_mismatches=measures.incomparable,
        max_absolute_error=measures.max_absolute,
        mean_absolute_error=measures.mean_absolute,
        max_relative_error=measures.max_relative,
        rmse=measures.rmse,
        max_ulp=measures.max_ulp,
        cosine_similarity=measures.cosine,
        worst_index=worst,
        worst_reference=values[0],
        worst_test=values[1],
        rounding=rounding,
        **described,
    )


def _is_rounding(*tensors: Any) -> bool:
    plain = all(isinstance(each, Tensor) and each.layout == torch.strided and not each.is_nested for each in tensors)
    return plain and is_rounding(*(each.detach() for each in tensors))


def _as_tensor(value: Tensor | Number) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    if isinstance(value, complex):
        return torch.tensor(value, dtype=torch.complex128)
    if isinstance(value, int):
        return torch.tensor(value, dtype=None if -(2**63) <= value < 2**63 else torch.uint64)
    raise TypeError(f"can compare tensors and numbers, not {type(value).__name__}")


def _tolerance(reference: Tensor | Number, test: Tensor | Number, config: ComparisonConfig) -> tuple[float, float]:
    """(rtol, atol) of the less precise dtype. A number takes the dtype of the tensor it is compared with."""
    dtypes = [value.dtype for value in (reference, test) if isinstance(value, Tensor)]
    if not dtypes:
        inexact = isinstance(reference, float | complex) or isinstance(test, float | complex)
        dtypes = [torch.get_default_dtype() if inexact else torch.int64]
    pairs = [config.tolerance(dtype) for dtype in dtypes]
    return max(rtol for rtol, _ in pairs), max(atol for _, atol in pairs)


def _obstacle(reference: Tensor, test: Tensor) -> str:
    """Why the values can't be compared at all; empty if they can."""
    if _sizes(reference) != _sizes(test):
        return f"shape {_sizes(test)} instead of {_sizes(reference)}"
    if reference.is_meta != test.is_meta:
        return f"device {test.device} instead of {reference.device}"
    if reference.is_meta:
        return "a tensor on the meta device has no values to compare"
    signed = {tensor.dtype for tensor in (reference, test)} & _SIGNED
    if torch.uint64 in (reference.dtype, test.dtype) and signed:
        return f"uint64 and {_name(signed.pop())} have no integer dtype in common to compare them in"
    return ""


_SIGNED = {torch.int8, torch.int16, torch.int32, torch.int64}


def _complaints(reference: Tensor, test: Tensor, config: ComparisonConfig) -> list[str]:
    """What is wrong besides the values."""
    checked = {"dtype": config.check_dtype, "device": config.check_device, "layout": config.check_layout}
    names = (*(name for name, is_checked in checked.items() if is_checked), *(["stride"] * config.check_layout))
    return [
        f"{'strides' if name == 'stride' else name} {_name(two)} instead of {_name(one)}"
        for name, one, two in unlike_properties(reference, test, names)
    ]


def _dense(tensor: Tensor) -> Tensor:
    """What sparse, quantised, nested and packed tensors hold, as numbers in a row or in their shape."""
    if tensor.is_nested:
        return torch.cat([each.reshape(-1) for each in tensor.unbind()])
    if tensor.is_quantized:
        return tensor.dequantize()
    if tensor.layout != torch.strided:
        return tensor.to_dense()
    inexact = (tensor.dtype.is_floating_point and tensor.dtype != _PACKED) or tensor.dtype.is_complex
    return tensor if inexact or tensor.dtype in _INTEGERS else tensor.contiguous().view(torch.uint8)


# Tensors of other dtypes are compared byte by byte: torch knows no numbers in them.
_INTEGERS = {torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, *_SIGNED}
_PACKED = getattr(torch, "float4_e2m1fn_x2", None)


def comparable(reference: Tensor, test: Tensor) -> tuple[Tensor, Tensor]:
    """Both tensors dense, with numbers of one kind: integers, real or complex. Floats keep their own dtypes."""
    reference, test = _dense(reference), _dense(test)
    if reference.dtype.is_complex != test.dtype.is_complex:
        return reference.to(torch.complex128), test.to(torch.complex128)
    if reference.dtype.is_floating_point != test.dtype.is_floating_point:
        return reference.to(torch.float64), test.to(torch.float64)
    return reference, test


def _mismatch(measures: Measures, limits: Limits, worst: tuple[int, ...] | None, values: tuple[Any, Any]) -> str:
    count = f"{measures.mismatches} of {measures.elements} elements"
    tolerated = f"atol={limits.atol:g} and " + (
        f"rtol={limits.rtol:g}" if limits.max_ulp is None else f"max_ulp={limits.max_ulp}"
    )
    exact = limits.rtol == limits.atol == 0 and limits.max_ulp is None
    beyond = "" if exact else f" by more than {tolerated}"
    special = f", {measures.incomparable} of them NaN or infinite" if measures.incomparable else ""
    place = f" at {list(worst)}" if worst else ""
    return f"{count} differ{beyond}{special}; the worst{place} is {values[1]} instead of {values[0]}"


def _sizes(tensor: Tensor) -> tuple[int, ...]:
    """Of a nested tensor: how many it holds, and how many elements each has."""
    if tensor.is_nested:
        return (tensor.size(0), *(each.numel() for each in tensor.unbind()))
    return tuple(tensor.shape)


def _unravelled(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        place, remainder = divmod(place, size)
        index.append(remainder)
    return tuple(reversed(index))


def _at(tensor: Tensor, place: int) -> Number:
    value: Number = tensor.reshape(-1)[place].item()
    return value


def _name(value: object) -> str:
    return str(value).removeprefix("torch.")
