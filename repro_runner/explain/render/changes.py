"""A fix beside the program it mends: what goes, what comes, what stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from registry.advice import Fix

_CONTEXT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A line of code; `mark` is `-` for one that goes, `+` for one that comes, ` ` for one that stays."""

    mark: str
    text: str


def find_changes(broken: str, fix: Fix) -> tuple[Change, ...]:
    """From the smallest program that breaks to its fix; long stretches that stay are left out."""
    before = _named(broken, "broken", fix.code).splitlines()
    after = [*fix.settings.splitlines(), *_named(fix.code, fix.name, broken).splitlines()]
    changes: list[Change] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if changes:
            changes.append(Change(mark=" ", text="…"))
        for tag, start, end, new_start, new_end in group:
            changes += _marked(" " if tag == "equal" else "-", before[start:end])
            changes += _marked("+", after[new_start:new_end]) if tag != "equal" else ()
    return tuple(changes)


def _marked(mark: str, lines: list[str]) -> Iterator[Change]:
    return (Change(mark=mark, text=line) for line in lines)


def _named(code: str, name: str, other: str) -> str:
    """Both programs under one name, so that only what differs is shown as different."""
    common = "f" if not re.search(r"\bf\b", code + other) else "function"
    return re.sub(rf"\b{re.escape(name)}\b", common, code)
