"""Find the files that the user named, also in folders. Loops of links end, and no file comes twice."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from registry.errors import Problem

STDIN = "-"
_RANK = re.compile(r"rank[_-]?([0-9]{1,9})", re.IGNORECASE)
_TORCHRUN = re.compile(r"attempt_[0-9]+/([0-9]+)/std(?:out|err)\.log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One input: a file or standard input."""

    name: str
    """The name that is shown to the user."""
    path: Path | None
    """None for standard input."""
    named: bool
    """Whether the user named it. Otherwise it was found in a folder that the user named."""

    @property
    def rank(self) -> str:
        """The rank of the process that wrote it, from its name or from torchrun's folders; empty if unknown."""
        if self.path is None:
            return ""
        found = _RANK.search(self.path.name) or _TORCHRUN.search(self.path.as_posix())
        return found[1] if found else ""


@dataclass(slots=True)
class FoundSources:
    """All inputs that were found, and problems with those that were not."""

    found: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def add(self, path: Path) -> None:
        """Add a file, or all files in a folder, in the order of their names."""
        waiting = [path]
        while waiting:
            one = waiting.pop()
            try:
                waiting += reversed(self._look_at(one, named=one is path))
            except OSError as error:
                if one is path or not one.is_symlink():  # a broken link in a folder is no problem
                    self.problems.append(Problem(str(one), f"{error.strerror or error}; it is left out"))

    def _look_at(self, path: Path, *, named: bool) -> list[Path]:
        """Keep a file that was not seen yet. Returns the contents of a folder that was not seen yet."""
        status = path.stat()
        if (status.st_dev, status.st_ino) in self._seen:
            return []
        self._seen.add((status.st_dev, status.st_ino))
        if stat.S_ISDIR(status.st_mode):
            return sorted(path.iterdir())
        if named or stat.S_ISREG(status.st_mode):
            self.found.append(Source(name=str(path), path=path, named=named))
        return []


def find_sources(arguments: Sequence[str]) -> FoundSources:
    """Find the inputs that these arguments name. `-` is standard input."""
    sources = FoundSources()
    for argument in dict.fromkeys(arguments):
        if argument == STDIN:
            sources.found.append(Source(name="standard input", path=None, named=True))
        else:
            sources.add(Path(argument))
    if not sources.found and not sources.problems:
        sources.problems.append(Problem(", ".join(arguments), "no files are there; name a log, or a folder with logs"))
    return sources


@contextmanager
def open_source(source: Source) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open an input and yield (its bytes, its size now). The size is None if it can't be known, as for a pipe."""
    if source.path is None:
        yield sys.stdin.buffer, None
        return
    with source.path.open("rb") as raw:
        status = os.fstat(raw.fileno())
        yield raw, status.st_size if stat.S_ISREG(status.st_mode) else None


def count_bytes(sources: Iterable[Source]) -> int | None:
    """The number of bytes on disk of all inputs; None if one of them has no size."""
    total = 0
    for source in sources:
        try:
            status = source.path.stat() if source.path else None
        except OSError:  # the problem is reported when the file is opened
            continue
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total
