"""What earlier processes learned from parsing programs, so that a command need not parse 500 files to show one.

An entry belongs to a program's text and to the code of this package that parses it: whatever differs is parsed again.
The files are only short cuts. Where one can't be read or written, everything is parsed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from registry.datafile import write_whole

_PARSERS = ("repros.py", "snippets.py", "program_text.py", "dependencies.py", "ids.py", "model.py", "parse_cache.py")
_MOST = 5_000
"""Entries: those of older programs are forgotten from time to time."""

T = TypeVar("T")


class ParseCache(Generic[T]):
    """What was made of programs before: `dump` gives it as JSON, `load` takes it from there."""

    def __init__(self, name: str, *, dump: Callable[[T], Any], load: Callable[[Any], T]) -> None:
        home = os.environ.get("XDG_CACHE_HOME")
        self._path = (Path(home) if home else Path.home() / ".cache") / "graphbreak" / f"{name}.json"
        self._dump, self._load = dump, load
        parsers = (Path(__file__).with_name(name).read_bytes() for name in _PARSERS)
        self._parser = hashlib.sha256(b"".join(parsers)).hexdigest()
        self._found: dict[str, Any] = {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self._path.read_bytes())
            self._found = found["programs"] if found["parser"] == self._parser else {}
        self._new: dict[str, Any] = {}

    def recall(self, text: str, make: Callable[[], T]) -> T:
        """What `make` makes of this text."""
        key = hashlib.sha256(text.encode()).hexdigest()
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            return self._load(self._found[key])
        made = make()
        self._new[key] = self._dump(made)
        return made

    def save(self) -> None:
        """Keep what is new for the next process."""
        if not self._new:
            return
        programs = {**(self._found if len(self._found) < _MOST else {}), **self._new}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps({"parser": self._parser, "programs": programs}).encode())
