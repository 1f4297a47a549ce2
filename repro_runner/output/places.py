"""Where something is in somebody's code: `file:line`, as short as a reader can still find it."""

from __future__ import annotations

import os
import re
from pathlib import Path

_PYTHONS = re.compile(r"/lib/python3\.\d+/(.+)")
_PATH = re.compile(r"(?<![\w./-])/[^\s:,;()'\"]+/[^\s:,;()'\"/]+\.py:\d+")


def located(file: str, folder: Path) -> Path:
    """Where a file is; a log may name it relative to where the program was started."""
    return Path(os.path.normpath(folder / file))


def in_package(path: Path) -> str:
    """`transformers/models/led.py` of a file that was installed, wherever that is; empty for any other."""
    parts = path.parts
    inside = parts[len(parts) - parts[::-1].index("site-packages") :] if "site-packages" in parts else ()
    return "/".join(inside)


def in_library(path: Path) -> str:
    """The same, and `json/decoder.py` of a file of Python's own."""
    return in_package(path) or (found[1] if (found := _PYTHONS.search(path.as_posix())) else "")


def shown_file(file: str, folder: Path | None = None) -> str:
    """Relative to the folder (the current one without one) where it is below it, and to where packages or Python
    are installed; else as it is."""
    folder = folder or Path.cwd()
    path = located(file, folder)
    if inside := in_library(path):
        return f"…/{inside}"
    return path.relative_to(folder).as_posix() if file and path.is_relative_to(folder) else file or "(no file)"


def shown_place(file: str, line: int, folder: Path | None = None) -> str:
    """`model.py:12`."""
    return f"{shown_file(file, folder)}:{line}"


def shown_where(where: str, folder: Path | None = None) -> str:
    """The same of a text `file:line`; what is no such text stays as it is."""
    file, colon, line = where.rpartition(":")
    return shown_place(file, int(line), folder) if colon and line.isdecimal() else where


def with_shown_places(text: str, folder: Path | None = None) -> str:
    """A sentence, with the lines of programs in it as `shown_where` shows them."""
    return _PATH.sub(lambda found: shown_where(found[0], folder), text)
