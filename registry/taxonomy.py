"""Read `taxonomy.yml`: the categories, their text, and which ids belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.model import Category
from registry.yamlfile import read_yaml

UNCATEGORISED = Category(
    key="uncategorised",
    title="Not yet categorised",
    why="These breaks are new upstream; nobody has placed them yet.",
    way_out="Add the id to a category in `registry/taxonomy.yml`.",
)


def read_taxonomy(path: Path) -> tuple[Category, ...]:
    """Read the file; all problems at once as InvalidInput."""
    text, content = read_data_file(path), read_yaml(path)
    entries = content.get("categories") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise InvalidInput([Problem(f"registry/{path.name}:1", "needs a list under `categories:`")])
    problems = [Problem(f"registry/{path.name}:{_line(text, token)}", why) for token, why in _check(entries)]
    if problems:
        raise InvalidInput(problems)
    return tuple(
        Category(
            key=entry["key"],
            title=entry["title"],
            why=entry["why"],
            way_out=entry["way_out"],
            ids=tuple(entry.get("ids") or ()),
        )
        for entry in entries
    )


def _check(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield (a token to look for, what is wrong and what to do)."""
    seen: dict[str, str] = {}
    keys: set[str] = set()
    for entry in entries:
        if not isinstance(entry, Mapping):
            yield str(entry), "a category must be a mapping"
            continue
        for field in ("key", "title", "why", "way_out"):
            if not isinstance(entry.get(field), str) or not entry[field].strip():
                yield str(entry.get("key", "")), f"category {entry.get('key')!r} needs a text `{field}`"
        key = str(entry.get("key"))
        if key in keys:
            yield key, f"category {key!r} is there twice; join the two"
        keys.add(key)
        for gb_id in entry.get("ids") or ():
            if not is_gb_id(str(gb_id)):
                yield str(gb_id), f"{gb_id!r} is not an id such as GB0042"
            elif gb_id in seen:
                yield gb_id, f"{gb_id} is in {seen[gb_id]!r} and in {key!r}; keep one"
            seen[str(gb_id)] = key


def _line(text: str, token: str) -> int:
    """The last line that holds the token: the second of two duplicates is the one to remove."""
    at = text.rfind(token) if token else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
