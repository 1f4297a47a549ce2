"""What a child is told to do: one repro under one backend. JSON-able, and free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BACKENDS = ("eager", "inductor", "mock")
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One repro, one backend, one device."""

    gb_id: str
    source: str
    backend: str = "eager"
    device: str = "cpu"
    other_types: Mapping[str, str] = field(default_factory=dict)
    """Types that the installed torch may not know, with their ids."""

    @property
    def key(self) -> str:
        return f"{self.gb_id}/{self.backend}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Job:
        return cls(**content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use before it is killed, with all its processes."""

    seconds: float = 120.0
    memory: int = 6 * 1024**3
    output: int = 64 * 1024
