"""What a release did to an id."""

from __future__ import annotations

from collections.abc import Iterator

from registry.model import History

CHANGES = ("new", "meaning changed", "reworded", "retired")
"""In the order of how much a reader wants to know."""


def changes_in(history: History, torch: str) -> tuple[str, ...]:
    """Return those of CHANGES that happened to the id in this release."""
    return tuple(_changes(history, torch))


def _changes(history: History, torch: str) -> Iterator[str]:
    if torch == history.first_release:
        yield "new"
    if torch in history.meaning_changed_in:
        yield "meaning changed"
    if torch in history.reworded_in:
        yield "reworded"
    if torch == history.retired_in:
        yield "retired"
