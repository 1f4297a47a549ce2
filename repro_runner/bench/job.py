"""What a child of the benchmark is asked to do. No torch here: the parent has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One model under one backend, or the block with breaks where `model` is empty."""

    model: str = ""
    """A name in the catalogue, or MODEL.py:make_model."""
    backend: str = ""
    size: str = "full"
    device: str = "cpu"
    warmup: int = 3
    runs: int = 20
    only_compile: bool = False
    """Time the first call and nothing else: the second process of a row, which finds the cache filled."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Job:
        return cls(**content)
