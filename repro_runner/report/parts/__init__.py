"""What a report makes of each kind of document: a verdict in one line, and what its template shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

WORKS, DOUBT, BREAKS, PLAIN = "works", "doubt", "breaks", "plain"
"""All is well; worth a look; something is wrong; neither good nor bad."""
MARKS = {WORKS: "✓", DOUBT: "!", BREAKS: "✗", PLAIN: "·"}
_NUMBERS = re.compile(r"((?:float|int|complex)\d\w*)|(?:-?\d[\d.]*(?:e[-+]?\d+)?(?:, (?=-?\d))?)+", re.ASCII)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One line, and whether it is good news."""

    state: str
    line: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Title -> number; the first one says how bad it is."""


def likeness(text: str) -> str:
    """The text without its numbers, except in names of dtypes: two rows about other layers or shapes are alike."""
    return _NUMBERS.sub(lambda found: found[1] or "#", text)


def fold(rows: Iterable[_Row], alike: Callable[[_Row], Hashable]) -> list[tuple[_Row, list[_Row]]]:
    """Each row that is like none before it, with the later rows that are like it."""
    found: dict[Hashable, tuple[_Row, list[_Row]]] = {}
    for row in rows:
        key = alike(row)
        if key in found:
            found[key][1].append(row)
        else:
            found[key] = (row, [])
    return list(found.values())
