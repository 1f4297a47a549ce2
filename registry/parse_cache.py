"""What earlier processes learned from parsing programs, so that a command need not parse 500 files to show one.

An entry belongs to a program's text and to the code of this package that parses it: whatever differs is parsed again.
The file is only a short cut. Where it can't be read or written, everything is parsed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from registry.datafile import write_whole
from registry.model import Repro

_PARSERS = ("repros.py", "program_text.py", "dependencies.py", "ids.py", "model.py", "parse_cache.py")
_MOST = 5_000
"""Entries: those of older programs are forgotten from time to time."""
_KEPT = [field.name for field in fields(Repro) if field.name not in ("name", "source")]


class ParseCache:
    """Programs that were parsed before."""

    def __init__(self) -> None:
        home = os.environ.get("XDG_CACHE_HOME")
        self._path = (Path(home) if home else Path.home() / ".cache") / "graphbreak" / "programs.json"
        parsers = (Path(__file__).with_name(name).read_bytes() for name in _PARSERS)
        self._parser = hashlib.sha256(b"".join(parsers)).hexdigest()
        self._found: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self._path.read_bytes())
            self._found = found["programs"] if found["parser"] == self._parser else {}
        self._new: dict[str, dict[str, Any]] = {}

    def parse(self, source: str, name: str, parse: Callable[[str, str], Repro]) -> Repro:
        """As `parse` does it."""
        key = hashlib.sha256(f"{name}\n{source}".encode()).hexdigest()
        if known := self._found.get(key):
            tuples = {field: tuple(known[field]) for field in ("isolated", "order")}
            return Repro(name=name, source=source, **{**known, **tuples})
        repro = parse(source, name)
        self._new[key] = {field: getattr(repro, field) for field in _KEPT}
        return repro

    def save(self) -> None:
        """Keep what is new for the next process."""
        if not self._new:
            return
        programs = {**(self._found if len(self._found) < _MOST else {}), **self._new}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps({"parser": self._parser, "programs": programs}).encode())
