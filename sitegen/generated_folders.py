"""Folders under docs/ in which every file is generated: what no run would write there is out of date."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

WHOLLY_GENERATED = ("api/v1/gb", "assets/data", "assets/js", "assets/learn", "categories", "learn", "messages")
"""Not docs/gb: people write there."""

Seen = dict[str, dict[str, bytes | None]]
"""Path -> {its spelling on disk: content}, the one to keep first."""


def files_in(docs: Path, folders: Iterable[str] = WHOLLY_GENERATED) -> list[str]:
    """Paths under docs/, sorted; names that start with a dot belong to somebody else (.gitkeep, an editor)."""
    return sorted(name for folder in folders for name in _files_below(docs, folder))


def _files_below(docs: Path, top: str) -> Iterable[str]:
    for folder, folders, names in os.walk(docs / top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(folder).relative_to(docs)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from ((below / name).as_posix() for name in (*names, *links) if not name.startswith("."))


def sort_out(docs: Path, texts: Mapping[str, str]) -> tuple[Seen, list[str]]:
    """Return (files that a run writes but that have another spelling on disk, files that no run would write).

    On a disk that ignores case another spelling is the file itself: to delete it would delete what was just written.
    """
    wanted = {name.casefold(): name for name in texts}
    other: dict[str, list[str]] = {}
    stale = []
    on_disk = files_in(docs)
    for name in on_disk:
        if name in texts:
            continue
        if name.casefold() in wanted:
            other.setdefault(wanted[name.casefold()], []).append(name)
        else:
            stale.append(name)
    present = frozenset(on_disk)
    seen: Seen = {
        name: {spelling: (docs / spelling).read_bytes() for spelling in ([name] * (name in present) + spellings)}
        for name, spellings in other.items()
    }
    return seen, stale
