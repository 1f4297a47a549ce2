"""What a report makes of each kind of document: a verdict in one line, and what its template shows."""

from __future__ import annotations

from dataclasses import dataclass

WORKS, DOUBT, BREAKS, PLAIN = "works", "doubt", "breaks", "plain"
"""All is well; worth a look; something is wrong; neither good nor bad."""
MARKS = {WORKS: "✓", DOUBT: "!", BREAKS: "✗", PLAIN: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One line, and whether it is good news."""

    state: str
    line: str
