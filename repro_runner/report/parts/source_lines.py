"""Where in the user's code something is: shown short, with the line itself if the file is as it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_LARGEST = 2_000_000
_SHOWN_FOLDERS = 1
_PATH = re.compile(r"(?<![\w./-])/[^\s:,;()'\"]+/[^\s:,;()'\"/]+\.py:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """`file:line`, with no more of the path than tells files apart."""

    where: str
    shown: str
    text: str = ""
    """Empty if the file is gone, or was changed after it was looked at."""


def read_source_line(where: str, document: Path) -> SourceLine:
    """As `document`, a file of the run, saw it. Only Python files of a sensible size are looked into."""
    file, _, number = where.rpartition(":")
    if not file or not number.isdecimal():
        return SourceLine(where=where, shown=where)
    return SourceLine(where=where, shown=shown_path(where), text=_line(Path(file), int(number), document))


def shown_path(path: str) -> str:
    """`model/layers.py:12` of `/home/me/model/layers.py:12`."""
    return "/".join(path.split("/")[-1 - _SHOWN_FOLDERS :]) if path.startswith("/") else path


def with_short_paths(text: str) -> str:
    """The same sentence, with the lines of programs in it as `shown_path` shows them."""
    return _PATH.sub(lambda found: shown_path(found[0]), text)


def _line(file: Path, number: int, document: Path) -> str:
    try:
        found = file.stat()
        if file.suffix != ".py" or found.st_size > _LARGEST or found.st_mtime > document.stat().st_mtime:
            return ""
        lines = file.read_text("utf-8", "replace").splitlines()
    except (OSError, ValueError):  # gone, or no name that a disk would take
        return ""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
