"""The runs on disk: list them, even those whose manifest can't be read; delete runs, and nothing but runs.

Only a folder directly in the home is deleted, and only if it has the name and the manifest of a run. Nothing else is
touched: no other file beside the runs, and nothing that a link leads to.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypedDict

from registry.documents import Document, head
from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.output.units import counted
from repro_runner.runs.run_folder import MANIFEST, REPORT, RunFolder, list_runs, no_single_run, runs_home

DOCUMENTS = {
    kind: f"{kind}.json"
    for kind in ("violations", "op_support", "breaks", "numerics", "guards", "minified", "bench", "break_cost")
}
"""The kind of a document -> its file; in the order in which a report shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One line of the list."""

    run: RunFolder
    verb: str
    subject: str
    started: str
    size: int
    """Bytes of all its files."""
    holds: tuple[str, ...]


class RunRecord(TypedDict):
    """A run in the list, in plain JSON values."""

    id: str
    path: str
    verb: str
    subject: str
    started: str
    bytes: int
    holds: list[str]


class RunsDocument(Document):
    """What `graphbreak artifacts list --json` prints."""

    home: str
    runs: list[RunRecord]


def runs_document(listed: Iterable[ListedRun]) -> RunsDocument:
    """These runs as a document."""
    return {**head("runs"), "home": str(runs_home()), "runs": list(map(_record, listed))}


def _record(each: ListedRun) -> RunRecord:
    return {
        "id": each.run.id,
        "path": str(each.run.path),
        "verb": each.verb,
        "subject": each.subject,
        "started": each.started,
        "bytes": each.size,
        "holds": list(each.holds),
    }


def describe_run(run: RunFolder) -> ListedRun:
    """Read the manifest, and look at what else is there."""
    manifest = _manifest(run)
    graphs = len(graph_folders(run))
    holds = [counted(graphs, "graph")] if graphs else []
    holds += [kind.replace("_", " ") for kind, file in DOCUMENTS.items() if run.has(file)]
    holds += ["report"] if run.has(REPORT) else []
    return ListedRun(
        run=run,
        verb=str(manifest.get("verb", "?")),
        subject=str(manifest.get("subject") or ""),
        started=str(manifest.get("started", "")),
        size=_size(run.path),
        holds=tuple(holds),
    )


def graph_folders(run: RunFolder) -> list[str]:
    """`graphs/0000`, …: the compiled graphs of a run, in order."""
    found = sorted((run.path / "graphs").glob("*/graph.json"))
    return [path.parent.relative_to(run.path).as_posix() for path in found]


def _manifest(run: RunFolder) -> dict[str, Any]:
    try:
        return run.manifest()
    except InvalidInput:
        return {"verb": run.id.split("-")[2], "subject": "(its manifest can't be read)"}


def _size(folder: Path) -> int:
    """Bytes of all files. A link counts as itself, not as its target; a file that vanishes meanwhile counts as 0."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(parent, name).lstat().st_size
            except OSError:
                continue
    return total


def choose_runs(
    ids: Sequence[str] = (), *, older_than: timedelta | None = None, keep: int = 0, home: Path | None = None
) -> list[RunFolder]:
    """The runs named by `ids` (each an id or its beginning), or all; without the `keep` newest and those too young."""
    runs = [run for run in list_runs(home) if _is_ours(run)]
    chosen = _named(runs, ids) if ids else runs
    chosen = chosen[: max(0, len(chosen) - keep)]
    if older_than is None:
        return chosen
    limit = f"{datetime.now(timezone.utc) - older_than:%Y%m%d-%H%M%S}"
    return [run for run in chosen if run.id < limit]


def is_being_written(run: RunFolder) -> bool:
    """Whether the process that made the run is still running. False if that can't be known on this machine."""
    writer = _raw_manifest(run)
    pid = writer.get("pid")
    if not isinstance(pid, int) or pid <= 0 or writer.get("host") != platform.node() or os.name != "posix":
        return False  # on Windows `os.kill` would end the process
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return pid != os.getpid()


def delete_runs(runs: Iterable[RunFolder]) -> list[RunFolder]:
    """Delete the runs, and return those that were deleted. WriteFailed at the end names each that could not be."""
    deleted, refused = [], []
    for run in runs:
        try:
            _delete(run)
        except FileNotFoundError:
            continue  # another process was faster
        except OSError as error:
            refused.append(f"{error.filename or run.path}: {error.strerror}; its run could not be deleted")
        else:
            deleted.append(run)
    if refused:
        raise WriteFailed("\n".join([*refused, f"{len(deleted)} other runs were deleted"]))
    return deleted


def _delete(run: RunFolder) -> None:
    """Delete the manifest last: after an interruption the rest is still a run, and can be deleted later."""
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
            problems.append(Problem(repr(name), no_single_run(len(found))))
    if problems:
        raise InvalidInput(problems)
    return [chosen[run.id] for run in runs if run.id in chosen]


def _is_ours(run: RunFolder) -> bool:
    return _raw_manifest(run).get("kind") == "run"


def _raw_manifest(run: RunFolder) -> dict[str, Any]:
    """The manifest, also of a run of a newer version; empty if it can't be read."""
    try:
        found = run.read_json(MANIFEST)
    except InvalidInput:
        return {}
    return found if isinstance(found, dict) else {}
