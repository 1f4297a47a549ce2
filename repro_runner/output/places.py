"""Places in a program, `file:line`, shortened so that a reader can still find them; and files below a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from registry.errors import InvalidInput, Problem

_PYTHONS = re.compile(r"/lib/python3\.\d+/(.+)")
_CELL = re.compile(r"/ipykernel_\d+/\d+\.py$|^<ipython-input")
"""Files that Jupyter makes up for the cells of a notebook."""
_PATH = re.compile(r"(?<![\w./-])/[^\s:,;()'\"]+/[^\s:,;()'\"/]+\.py:\d+")


def located(file: str, folder: Path) -> Path:
    """The path of a file. A log may name it relative to `folder`, where the program was started."""
    return Path(os.path.normpath(folder / file))


def find_below(name: str, folder: Path) -> Path:
    """The file with this name below a folder, without symbolic links. Raises InvalidInput if there is none."""
    folder = folder.resolve()
    try:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            why = f"leads out of {folder}; name a file below it"
        elif path.is_file():
            return path
        else:
            why = f"no such file below {folder}; names are relative to it"
    except (OSError, ValueError, RuntimeError) as error:  # a link to itself, a NUL, a name that is too long
        why = f"is not the name of a file ({error}); name a file below {folder}"
    raise InvalidInput([Problem(name, why)])


def in_package(path: Path) -> str:
    """The path inside site-packages, `transformers/models/led.py`; empty for a file that is not in site-packages."""
    parts = path.parts
    inside = parts[len(parts) - parts[::-1].index("site-packages") :] if "site-packages" in parts else ()
    return "/".join(inside)


def in_library(path: Path) -> str:
    """The path inside site-packages, or inside Python's standard library (`json/decoder.py`); else empty."""
    return in_package(path) or (found[1] if (found := _PYTHONS.search(path.as_posix())) else "")


def shown_file(file: str, folder: Path | None = None) -> str:
    """The file relative to `folder` (default: the current folder), or as `…/path` inside an installed package or
    Python's library; `cell` in a notebook; the unchanged path otherwise."""
    if _CELL.search(file):
        return "cell"
    folder = folder or Path.cwd()
    path = located(file, folder)
    if inside := in_library(path):
        return f"…/{inside}"
    return path.relative_to(folder).as_posix() if file and path.is_relative_to(folder) else file or "(no file)"


def shown_place(file: str, line: int, folder: Path | None = None) -> str:
    """The shortened `file:line`, such as `model.py:12`."""
    return f"{shown_file(file, folder)}:{line}"


def shown_where(where: str, folder: Path | None = None) -> str:
    """Shorten a text `file:line`. Any other text is returned unchanged."""
    file, colon, line = where.rpartition(":")
    is_place = colon and line.isdecimal() and "://" not in file
    return shown_place(file, int(line), folder) if is_place else where


def with_shown_places(text: str, folder: Path | None = None) -> str:
    """Shorten every absolute `path.py:line` in a sentence."""
    return _PATH.sub(lambda found: shown_where(found[0], folder), text)
