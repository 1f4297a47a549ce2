"""Rejoin hints that upstream's extractor split: adjacent string literals are one hint to a reader."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence


def rejoin_hints(hints: Sequence[str], literals: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """Group consecutive fragments that make up one of `literals`; every other hint is a group of its own."""
    whole = {_key(literal) for literal in literals}
    groups: list[tuple[str, ...]] = []
    start = 0
    while start < len(hints):
        end = _end_of_literal(hints, start, whole)
        groups.append(tuple(hints[start:end]))
        start = end
    return tuple(groups)


def split_literals(hints: Sequence[str], literals: Collection[str]) -> tuple[str, ...]:
    """Return those literals that `hints` holds in two or more fragments."""
    split = {_key("".join(group)) for group in rejoin_hints(hints, literals) if len(group) > 1}
    return tuple(sorted({literal for literal in literals if _key(literal) in split}))


def _end_of_literal(hints: Sequence[str], start: int, whole: Collection[str]) -> int:
    for end in range(len(hints), start + 1, -1):
        if _key("".join(hints[start:end])) in whole:
            return end
    return start + 1


def _key(text: str) -> str:
    """Placeholders are source text in one place and unparsed code in the other: quotes and spaces may differ."""
    return re.sub(r"[\s'\"]", "", text)
