"""Compare with the disk, and write what changed: whole files or nothing."""

from __future__ import annotations

import contextlib
import difflib
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import WriteFailed

_TEMPORARY = ".generate-site-"
_LEFTOVER_AFTER = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that has to be written, or to go."""

    path: Path
    new: bytes | None
    """None if the file is to be deleted."""
    old: bytes | None
    """What is there now, as far as we know; None if nothing is."""
    on_disk: Path | None = None
    """The file under the name it has now, where that is another spelling of `path`."""
    remove: Mapping[Path, bytes | None] = field(default_factory=dict)
    """Other spellings, whose content as we know it `new` holds too."""

    def still_fits(self) -> bool:
        """Whether nobody has saved the file, under any spelling, since it was read; another run of ours may have."""
        as_read = _read(self.on_disk or self.path) == self.old or _read(self.path) == self.new  # None is no file
        return as_read and all(_read(path) in (content, None) for path, content in self.remove.items())


def plan_changes(
    folder: Path, texts: Mapping[str, str], seen: Mapping[str, Mapping[str, bytes | None]] | None = None
) -> tuple[Change, ...]:
    """Compare {path: text} with the files under `folder`; return what differs, in order.

    `seen` gives, for a path that was read before, {spelling on disk: content as it was read}, the one to keep first.
    """
    changes = []
    for name, text in texts.items():
        files = (seen or {}).get(name) or {name: _read(folder / name)}
        present, *others = files
        path, on_disk = folder / name, folder / present
        old = files[present]
        new = text.encode("utf-8")
        if old != new or present != name or others:
            change = Change(
                path=path,
                new=new,
                old=old,
                on_disk=on_disk if present != name else None,
                remove={folder / other: files[other] for other in others},
            )
            changes.append(change)
    return tuple(changes)


def plan_removals(folder: Path, names: Iterable[str]) -> tuple[Change, ...]:
    """Files under `folder` that have to go, in order."""
    return tuple(Change(path=folder / name, new=None, old=_read(folder / name)) for name in names)


def _read(path: Path) -> bytes | None:
    """What a file holds; of a link to nothing, or to a folder, where it leads."""
    if path.is_symlink() and not path.is_file():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.exists() else None


def write_changes(changes: Sequence[Change], together: Collection[Change] = ()) -> tuple[Change, ...]:
    """Write every change. First all content goes to temporary files, on disk for certain; then each takes its place.

    Returns the changes that were left out because somebody saved the file meanwhile: their bytes go before ours. Those
    that belong `together` are left out together.

    A full or read-only disk is met in the first part, when no file has been touched. A process killed in the second
    leaves every file whole, some new and some old; the next run writes the rest.
    """
    staged: list[tuple[Path, Change]] = []
    overtaken = []
    try:
        for folder in sorted({change.path.parent for change in changes}):
            folder.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(folder)
        with ThreadPoolExecutor(8) as pool:  # fsync waits for the disk; several at once share one journal commit
            staged = [(_temporary(change.path), change) for change in changes]
            list(pool.map(_stage, staged))
        split = not all(change.still_fits() for change in together)
        for temporary, change in staged:
            if change.still_fits() and not (split and change in together):
                _put_in_place(temporary, change)
            else:
                overtaken.append(change)
                temporary.unlink()
        for folder in {change.path.parent for change in changes}:
            _sync_folder(folder)
        return tuple(overtaken)
    except OSError as error:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise WriteFailed(
            f"{error.filename or 'disk'}: {error.strerror}; free some space or fix the permissions, then run again"
        ) from error


def _temporary(path: Path) -> Path:
    return path.with_name(f"{_TEMPORARY}{os.getpid()}-{path.name}.tmp")


def _stage(staged: tuple[Path, Change]) -> None:
    temporary, change = staged
    # A file that is to go gets one too: a folder that can't be written has to be met now, not half-way.
    with temporary.open("wb") as file:
        file.write(change.new or b"")
        file.flush()
        os.fsync(file.fileno())
    current = change.on_disk or change.path
    if change.old is not None and change.new is not None:
        temporary.chmod(current.stat().st_mode & 0o777)


def _put_in_place(temporary: Path, change: Change) -> None:
    if change.new is None:
        change.path.unlink(missing_ok=True)
        temporary.unlink()
        return
    # Renaming the old spelling first keeps exactly one file at every moment, on disks that ignore case too: there,
    # removing gb0007.md after writing GB0007.md would remove the page.
    if change.on_disk is not None:
        with contextlib.suppress(FileNotFoundError):  # another run of ours was quicker
            change.on_disk.replace(change.path)
    temporary.replace(change.path)
    for twin in change.remove:
        twin.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the renames themselves durable; Windows has no such call."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(folder: Path) -> None:
    """Temporary files of a run that was killed; young ones may belong to a run that is alive."""
    for path in folder.glob(f"{_TEMPORARY}*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # its run has just finished
            if time.time() - path.stat().st_mtime > _LEFTOVER_AFTER:
                path.unlink()


def diff_changes(changes: Iterable[Change], root: Path) -> Iterator[str]:
    """A unified diff of what would be written."""
    for change in changes:
        name = change.path.relative_to(root).as_posix()
        before = (change.on_disk or change.path).relative_to(root).as_posix() if change.old is not None else "/dev/null"
        after = name if change.new is not None else "/dev/null"
        yield from difflib.unified_diff(_lines(change.old or b""), _lines(change.new or b""), before, after)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines(keepends=True)
