"""The vocabulary of measurements: what a break costs, and models under backends. Figures of one machine each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where something was measured."""

    torch: str
    python: str
    device: str
    device_name: str
    cores: int
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The middle of many measurements, and the quartiles around it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """The block with so many breaks. `eager` and `compiled` are times of the compiled block without a break."""

    breaks: int
    graphs: int
    eager: Spread
    compiled: Spread
    of_eager: Spread
    """Compiled, in times of eager."""
    seconds: Spread
    """A call of the compiled block."""
    added_s: Spread | None
    """What each break adds to a call; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCurve:
    """One block with more and more breaks, none first; every point measured in turn with the others."""

    name: str
    layers: int
    rows: int
    width: int
    dtype: str
    threads: int
    clock: str
    """`CPU time` or `wall time`."""
    rounds: int
    points: tuple[CostPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakCost:
    """The curves of one machine."""

    machine: Machine
    curves: tuple[CostCurve, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model under one backend. Where it failed, `cause` says why and there are no numbers."""

    model: str
    title: str
    sample: str
    backend: str
    cause: str = ""
    parameters: int = 0
    samples: int = 0
    threads: int = 0
    clock: str = ""
    """`CPU time` or `wall time`; the first call is always measured by the clock on the wall."""
    first_call_s: float | None = None
    """Of a compiled model, with an empty cache; the compilation is in it."""
    first_call_warm_s: float | None = None
    latency: Spread | None = None
    throughput: float = 0.0
    memory: int | None = None
    graphs: int | None = None
    breaks: int | None = None
    break_ids: tuple[str, ...] = ()
    violations: int | None = None
    equals_eager: bool | None = None
    max_absolute_error: float | None = None
    """Against eager, over everything that the model returns; None also where it is not a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuite:
    """The models of one machine."""

    machine: Machine
    memory_is: str
    alignment: str
    """What the mock accelerator wanted every dimension to be a multiple of."""
    rows: tuple[ModelRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """Everything in `registry/measurements/`, the newest torch first, of one torch the CPU first."""

    break_costs: tuple[BreakCost, ...] = ()
    suites: tuple[ModelSuite, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.break_costs or self.suites)
