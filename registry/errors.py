"""The exceptions, drawn as a tree, and Problem: one line a person can act on.

RegistryError
├── PullFailed        a source could not be reached or did not answer as it should
├── InvalidInput      a file or an answer is not what it has to be; carries every problem found
└── WriteFailed       the disk refused; what was there before still is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """`path:line: message`, or a JSON path in place of path and line."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class RegistryError(Exception):
    """Base of everything this project raises on purpose."""


class PullFailed(RegistryError):
    """A source could not be reached, or did not answer as it should."""


class InvalidInput(RegistryError):
    """A file or an answer is not what it has to be."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class WriteFailed(RegistryError):
    """The disk refused a write."""
