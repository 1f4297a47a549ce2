"""Read `unreached.yml`: live ids that have no repro, each with the evidence why, and where one could be run."""

from __future__ import annotations

from pathlib import Path

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.model import Unreached
from registry.versions import within
from registry.yamlfile import read_yaml

CATEGORIES = (
    "dead code",
    "defensive",
    "needs triton",
    "needs CUDA",
    "needs distributed",
    "needs another Python",
    "needs a C++ extension",
    "internal assertion",
    "shadowed by a second id for the same type",
)


def read_unreached(path: Path) -> dict[str, Unreached]:
    """Return gb_id -> reason; all problems at once as InvalidInput. No file: nothing is exempt."""
    if not path.exists():
        return {}
    content = read_yaml(path) or {}
    if not isinstance(content, dict):
        raise InvalidInput([Problem(f"{shown(path)}:1", "needs `GB0042: {category: ..., evidence: ...}` entries")])
    problems = [Problem(f"{shown(path)}:1", text) for gb_id, entry in content.items() for text in _check(gb_id, entry)]
    if problems:
        raise InvalidInput(problems)
    return {
        gb_id: Unreached(
            category=entry["category"],
            evidence=entry["evidence"].strip(),
            environment=entry.get("environment", ""),
            releases=entry.get("releases", ""),
        )
        for gb_id, entry in content.items()
    }


def _check(gb_id: object, entry: object) -> list[str]:
    if not isinstance(entry, dict) or not str(entry.get("evidence") or "").strip():
        return [f"{gb_id}: needs a `category` and `evidence`"]
    if entry.get("category") not in CATEGORIES:
        return [f"{gb_id}: {entry.get('category')!r} is no category; one of: {', '.join(CATEGORIES)}"]
    if entry["category"].startswith("needs") != bool(entry.get("environment")):
        return [f"{gb_id}: an `environment` (`Python 3.14`) is for what needs another one, and only for that"]
    try:
        within("2.0.0", str(entry.get("releases") or ">=2"))
    except ValueError as error:
        return [f"{gb_id}: releases: {error}"]
    return []
