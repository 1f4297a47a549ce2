"""`aliases.yml`: words and phrases that people type, that no wording or program has, and the ids that they mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.yamlfile import read_yaml


def read_aliases(path: Path) -> dict[str, tuple[str, ...]]:
    """Return gb_id -> its aliases, sorted; all problems at once as InvalidInput."""
    entries = (read_yaml(path) or {}) if path.exists() else {}
    if problems := [Problem(f"{shown(path)}:1", f"{alias}: {why}") for alias, why in _check(entries)]:
        raise InvalidInput(problems)
    gb_ids = {gb_id for ids in entries.values() for gb_id in ids}
    return {gb_id: tuple(sorted(alias for alias, ids in entries.items() if gb_id in ids)) for gb_id in gb_ids}


def _check(entries: Any) -> Iterator[tuple[object, str]]:
    if not isinstance(entries, dict):
        yield "the file", "write `word: [GB0042]` lines"
        return
    for alias, gb_ids in entries.items():
        if not isinstance(alias, str):
            yield alias, "put the word in quotes: YAML does not read it as text"
        if not isinstance(gb_ids, list) or not gb_ids or not all(is_gb_id(str(one)) for one in gb_ids):
            yield alias, "needs a list of ids such as [GB0042]"
