"""What a run of a program showed, as data that one process writes and another reads without loading code."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from repro_runner.judge.leaves import Flat


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A call to make."""

    seed: int
    variation: str = ""
    """Of the inputs that the program draws; see `inputs`."""
    gradients: str = ""
    """`leaves` or `non-leaves`: what the inputs are, if gradients flow back through the call."""

    @property
    def name(self) -> str:
        """`seed 3, size 4 to 5`."""
        return ", ".join(part for part in (f"seed {self.seed}", self.variation, self.gradients) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What one call showed."""

    plan: Plan
    given: Flat = field(default_factory=dict)
    """The inputs before."""
    seen: Mapping[str, Flat] = field(default_factory=dict)
    """By aspect."""
    error: tuple[str, str] = ("", "")
    """(class, text) of what it raised."""
    deliberate: bool = False
    """Whether the program's own `raise` or `assert` did."""
    rounding: float = 0.0
    """How much of their size its gradients may lose."""

    @property
    def failed(self) -> bool:
        """Whether it ended with an error that the program did not raise on purpose."""
        return bool(self.error[0]) and not self.deliberate


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that one process showed: it loaded a program, and called one function of it several times."""

    calls: tuple[Call, ...] = ()
    before: Flat = field(default_factory=dict)
    """The state of the program when it was loaded."""
    ended: Mapping[str, Flat] = field(default_factory=dict)
    """By aspect: what a program that ran to its end did, and what it holds then."""
    replaced: Flat = field(default_factory=dict)
    """What of torch and Python is no longer what it was."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else the child found out: counts, breaks, lines."""
    failure: str = ""
    """Why there is nothing to compare."""

    def call(self, plan: Plan) -> Call | None:
        """The call of a plan; None if it was not made."""
        return next((call for call in self.calls if call.plan == plan), None)


def dump(observation: Observation) -> bytes:
    """For another process."""
    file = io.BytesIO()
    torch.save(asdict(observation), file)
    return file.getvalue()


def load(content: bytes) -> Observation:
    """What another process sent. No code in it is run."""
    found = torch.load(io.BytesIO(content), weights_only=True)
    calls = tuple(Call(**{**call, "plan": Plan(**call["plan"])}) for call in found.pop("calls"))
    return Observation(calls=calls, **found)
