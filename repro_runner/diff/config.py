"""How strictly two tensors are compared, and how thoroughly two executions of a model are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass

import torch

from repro_runner.values import is_inexact, tolerance_of

Tolerance = float | Mapping[torch.dtype, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonConfig:
    """An element is close if |test - reference| <= atol + rtol * |reference|.

    Defaults by dtype (rtol, atol), those of torch.testing: float64 1e-7, 1e-7; float32 1.3e-6, 1e-5; bfloat16 1.6e-2,
    1e-5; float16 1e-3, 1e-5; complex as its parts. float8: one unit in the last place. Integers and bool: exact.
    A Python float does not say which dtype it came from: torch's default dtype is taken.
    """

    rtol: Tolerance | None = None
    """For every floating and complex dtype, or by dtype. Integers stay exact unless their dtype is named."""
    atol: Tolerance | None = None
    max_ulp: int | None = None
    """In place of rtol: an element is close within `atol`, or within so many representable values."""
    equal_nan: bool = True
    check_dtype: bool = True
    check_device: bool = False
    check_layout: bool = False
    """All strides, and whether a tensor is dense or sparse."""
    check_strides: bool = True
    """Strides of what a model returns, where a dimension has more than one element: a `view` may fail otherwise."""
    float64: bool = True
    """Where values differ, run the program in float64, too: what is no more than rounding is no difference."""
    dynamic: bool | None = None
    """As torch.compile has it."""
    gradients: bool = False
    """Run a backward, too, and compare the gradients of parameters and of inputs that require grad."""
    repeats: int = 2
    """How often each side runs from the same seed. What varies between runs is reported: it need not be a fault."""
    fallback_random: bool = True
    """Let Inductor use eager's random numbers. Its own differ by design, so that dropout would always differ."""
    max_probes: int = 40
    """How many graphs the search for a wrong op may compile."""
    flatten_lists: InitVar[bool] = True
    """Always so: what is in nested lists and tuples is compared item by item."""

    def __post_init__(self, flatten_lists: bool) -> None:
        if not flatten_lists:
            raise TypeError("flatten_lists=False: nested lists and tuples are always flattened; leave it out")
        problems = [
            f"{name}={value}: must be a number that is not negative"
            for name in ("rtol", "atol")
            for value in _values(getattr(self, name))
            if not isinstance(value, float | int) or not value >= 0
        ]
        problems += [
            f"{name}={value}: must be a whole number, at least {least}"
            for name, least in (("max_ulp", 0), ("repeats", 1), ("max_probes", 1))
            if (value := getattr(self, name)) is not None and (not isinstance(value, int) or value < least)
        ]
        if self.rtol is not None and self.max_ulp is not None:
            problems.append("max_ulp takes the place of rtol; give one of them")
        if problems:
            raise ValueError("; ".join(problems))

    def tolerance(self, dtype: torch.dtype) -> tuple[float, float]:
        """(rtol, atol) for tensors of a dtype."""
        (rtol, atol), inexact = tolerance_of(dtype), is_inexact(dtype)
        return (
            0.0 if self.max_ulp is not None else _chosen(self.rtol, dtype, rtol, inexact),
            _chosen(self.atol, dtype, atol, inexact),
        )


def _chosen(asked: Tolerance | None, dtype: torch.dtype, default: float, inexact: bool) -> float:
    if isinstance(asked, Mapping):
        return asked.get(dtype, default)
    return default if asked is None or not inexact else asked


def _values(asked: Tolerance | None) -> list[float]:
    if isinstance(asked, Mapping):
        return list(asked.values())
    return [] if asked is None else [asked]


def plain_number(value: float | complex | None) -> float | str | None:
    """For JSON, which has neither NaN nor infinities nor complex numbers."""
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
