"""The data of a captured break: its type, what became of it, and the user's frames. This module does not need torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from registry.documents import Document, head
from registry.ids import page_address

SWALLOWED = "raised and swallowed"
KINDS = ("fatal", "frame skipped", "resumed", SWALLOWED, "")
"""What became of a break, worst first; empty where a log does not say."""

RESUME_PREFIX = "torch_dynamo_resume_in_"
RESUMED = re.compile(rf"{RESUME_PREFIX}(?P<function>.+)_at_(?P<line>\d+)")
"""Dynamo's name for the rest of a function after a break. It contains the function and the line of the break."""


def plain_name(function: str) -> str:
    """The name that the user gave the function, also where Dynamo compiled the rest of it after a break."""
    resumed = RESUMED.fullmatch(function)
    return plain_name(resumed["function"]) if resumed else function


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFrame:
    """One frame of the user's code."""

    file: str
    line: int
    function: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedBreak:
    """One break at one place, as torch reported it, and how often it was reported."""

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
    """The id of the break that torch reported instead: a break in a loop is reported as GB7000."""
    count: int = 1

    @property
    def happened(self) -> bool:
        """Whether the graph really broke. Dynamo also raises breaks that it then ignores."""
        return self.kind != SWALLOWED


class BreaksDocument(Document):
    """breaks.json of a run."""

    breaks: list[dict[str, Any]]


def breaks_document(breaks: Iterable[CapturedBreak]) -> BreaksDocument:
    """The breaks that really happened, each with the address of its page and the line that broke."""
    return {**head("breaks"), "breaks": [_break_entry(one) for one in breaks if one.happened]}


def _break_entry(one: CapturedBreak) -> dict[str, Any]:
    line = f"{one.stack[-1].file}:{one.stack[-1].line}" if one.stack else ""
    return {**asdict(one), "link": page_address(one.gb_id), "source": line}
