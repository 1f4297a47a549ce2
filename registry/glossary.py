"""What the words of the pages mean: `glossary.yml`, a term with one or two short sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.yamlfile import read_yaml

LONGEST = 200
"""Characters that a reader takes in at a glance: a meaning is also shown on hover."""


def read_glossary(path: Path) -> dict[str, str]:
    """Return term -> what it means, sorted; all problems at once as InvalidInput."""
    entries = (read_yaml(path) or {}) if path.exists() else {}
    if problems := [Problem(f"{shown(path)}:1", f"{term}: {why}") for term, why in _check(entries)]:
        raise InvalidInput(problems)
    return {term: " ".join(entries[term].split()) for term in sorted(entries, key=str.casefold)}


def term_anchor(term: str) -> str:
    """Where the page has the term: `graph-break`."""
    return term.casefold().replace(" ", "-")


def _check(entries: Any) -> Iterator[tuple[object, str]]:
    if not isinstance(entries, dict):
        yield "the file", "write `term: what it means` lines"
        return
    anchors: dict[str, str] = {}
    for term, meaning in entries.items():
        if not isinstance(term, str) or not term.replace(" ", "").replace("-", "").isalpha():
            yield term, "a term has letters, blanks and hyphens only"
            continue
        if not isinstance(meaning, str) or not meaning.strip():
            yield term, "needs a text"
        elif len(meaning) > LONGEST:
            yield term, f"the text has {len(meaning)} characters; {LONGEST} are the most"
        if other := anchors.get(term_anchor(term)):
            yield term, f"has the same anchor as {other!r}; keep one"
        anchors[term_anchor(term)] = term
