"""What the runs on disk are, for a list of them: told even of a run whose manifest can't be read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput
from repro_runner.runs.run_folder import RunFolder

DOCUMENTS = {
    kind: f"{kind}.json"
    for kind in ("violations", "op_support", "breaks", "numerics", "guards", "minified", "bench", "break_cost")
}
"""The kind of a document -> its file; in the order in which a report shows them."""
REPORT = "report.html"


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


def describe_run(run: RunFolder) -> ListedRun:
    """Read the manifest, and look at what else is there."""
    manifest = _manifest(run)
    graphs = len(graph_folders(run))
    counted = [f"{graphs} graph{'' if graphs == 1 else 's'}"] * bool(graphs)
    return ListedRun(
        run=run,
        verb=str(manifest.get("verb", "?")),
        subject=str(manifest.get("subject") or ""),
        started=str(manifest.get("started", "")),
        size=_size(run.path),
        holds=(*counted, *(kind.replace("_", " ") for kind in _kinds(run)), *["report"] * run.has(REPORT)),
    )


def graph_folders(run: RunFolder) -> list[str]:
    """`graphs/0000`, …: the compiled graphs of a run, in order."""
    found = sorted((run.path / "graphs").glob("*/graph.json"))
    return [path.parent.relative_to(run.path).as_posix() for path in found]


def _kinds(run: RunFolder) -> list[str]:
    return [kind for kind, file in DOCUMENTS.items() if run.has(file)]


def _manifest(run: RunFolder) -> dict[str, Any]:
    try:
        return run.manifest()
    except InvalidInput:
        return {"verb": run.id.split("-")[2], "subject": "(its manifest can't be read)"}


def _size(folder: Path) -> int:
    """Links count as the few bytes that they are; what vanishes meanwhile counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(parent, name).lstat().st_size
            except OSError:
                continue
    return total
