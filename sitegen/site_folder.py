"""A built site on disk: what changed is written, what no longer belongs is deleted, other folders are left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from registry.errors import InvalidInput, Problem, WriteFailed

# docs/ holds a file of this name too, so that a folder built by Jekyll is known as one of ours.
MARKER = ".graph-break-site"


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """How many files a write touched."""

    written: int
    deleted: int


def write_site(site: Mapping[str, bytes], destination: Path) -> FolderChanges:
    """Make `destination` hold exactly `site`; refuse a folder with files in it that no build of ours made."""
    if destination.exists() and not _may_be_replaced(destination):
        raise InvalidInput(
            [Problem(str(destination), f"not empty and not a built site (no {MARKER}); name another folder")]
        )
    files = {MARKER: b"", **site}
    try:
        return FolderChanges(deleted=_delete_others(files, destination), written=_write_changed(files, destination))
    except OSError as error:
        raise WriteFailed(f"{error.filename or destination}: {error.strerror}") from error


def _may_be_replaced(destination: Path) -> bool:
    return destination.is_dir() and ((destination / MARKER).is_file() or not any(destination.iterdir()))


def _delete_others(files: Mapping[str, bytes], destination: Path) -> int:
    """First of the two steps: a folder of the last build may have to give way to a file of the same name."""
    stale = [path for path in _files_below(destination) if path.relative_to(destination).as_posix() not in files]
    for path in stale:
        path.unlink()
    for folder, _, _ in os.walk(destination, topdown=False):
        if folder != str(destination) and not os.listdir(folder):  # noqa: PTH208 (os.walk gives strings)
            Path(folder).rmdir()
    return len(stale)


def _files_below(destination: Path) -> Iterator[Path]:
    """Links count as files, even to folders: what they point to is not ours."""
    for folder, folders, names in os.walk(destination):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in names + links)


def _write_changed(files: Mapping[str, bytes], destination: Path) -> int:
    written = 0
    for name, content in files.items():
        path = destination / name
        if not path.is_file() or path.is_symlink() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)
            written += 1
    return written
