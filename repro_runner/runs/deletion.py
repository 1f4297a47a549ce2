"""Delete runs, and nothing but runs.

A run is a folder directly in the home, named as `RunFolder.create` names them, that holds a manifest of a run. Nothing
else is ever touched: neither what lies beside runs, nor what a link inside a run, or in place of one, leads to.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.runs.run_folder import MANIFEST, RunFolder, list_runs


def choose_runs(
    ids: Sequence[str] = (), *, older_than: timedelta | None = None, keep: int = 0, home: Path | None = None
) -> list[RunFolder]:
    """Those named, by id or its beginning; all if none is. Of these, those old enough, and not the `keep` newest."""
    runs = [run for run in list_runs(home) if _is_ours(run)]
    chosen = _named(runs, ids) if ids else runs
    chosen = chosen[: len(chosen) - keep] if keep else chosen
    if older_than is None:
        return chosen
    limit = f"{datetime.now(timezone.utc) - older_than:%Y%m%d-%H%M%S}"
    return [run for run in chosen if run.id < limit]


def is_being_written(run: RunFolder) -> bool:
    """Whether the process that made it still lives, as far as this machine can tell."""
    writer = _manifest(run)
    pid = writer.get("pid")
    if not isinstance(pid, int) or pid <= 0 or writer.get("host") != platform.node() or os.name != "posix":
        return False  # elsewhere the question below would end the process
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return pid != os.getpid()


def delete_runs(runs: Iterable[RunFolder]) -> list[RunFolder]:
    """Delete them; return those that were. WriteFailed, at the end, names each that the disk would not let go."""
    deleted, refused = [], []
    for run in runs:
        try:
            _delete(run)
        except FileNotFoundError:
            continue  # somebody else was faster
        except OSError as error:
            refused.append(f"{error.filename or run.path}: {error.strerror}; its run could not be deleted")
        else:
            deleted.append(run)
    if refused:
        raise WriteFailed("\n".join([*refused, f"{len(deleted)} other runs were deleted"]))
    return deleted


def _delete(run: RunFolder) -> None:
    """The manifest goes last: what an interruption leaves is still a run, and can be cleaned."""
    if run.path.is_symlink():
        raise FileNotFoundError
    for path in run.path.iterdir():
        if path.name == MANIFEST:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    (run.path / MANIFEST).unlink()
    run.path.rmdir()


def _named(runs: Sequence[RunFolder], ids: Sequence[str]) -> list[RunFolder]:
    chosen: dict[str, RunFolder] = {}
    problems = []
    for name in ids:
        found = [run for run in runs if run.id.startswith(name)] if name else []
        if len(found) == 1:
            chosen[found[0].id] = found[0]
        else:
            told = "no such run" if not found else f"{len(found)} runs begin so; write more of the id"
            problems.append(Problem(repr(name), f"{told}; `graphbreak artifacts list` shows them"))
    if problems:
        raise InvalidInput(problems)
    return [chosen[run.id] for run in runs if run.id in chosen]


def _is_ours(run: RunFolder) -> bool:
    return _manifest(run).get("kind") == "run"


def _manifest(run: RunFolder) -> dict[str, Any]:
    """Of a newer version's run, too."""
    try:
        found = run.read_json(MANIFEST)
    except InvalidInput:
        return {}
    return found if isinstance(found, dict) else {}
