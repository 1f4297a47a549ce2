"""What is captured of a break."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("resumed", "frame skipped", "fatal", "raised and swallowed")
"""Strongest first: what became of a break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFrame:
    """One frame of the user's code."""

    file: str
    line: int
    function: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedBreak:
    """One break at one place, as torch reported it, and how many times."""

    gb_id: str
    gb_type: str
    message: str
    context: str
    explanation: str
    hints: tuple[str, ...]
    kind: str
    stack: tuple[UserFrame, ...]
    """Outermost first; the last frame is the line that broke."""
    compile_id: str
    surfaced_as: str = ""
    """The id of the break that this one was reported as: one in a loop surfaces as GB7000."""
    count: int = 1

    @property
    def happened(self) -> bool:
        """Whether the graph really broke: Dynamo also raises breaks that it then swallows."""
        return self.kind != "raised and swallowed"
