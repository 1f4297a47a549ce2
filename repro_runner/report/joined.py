"""The documents of a run, joined into one for programs."""

from __future__ import annotations

from typing import Any

from repro_runner.report.contents import RunContents
from repro_runner.runs.inventory import DOCUMENTS

_ABOUT_THE_WRITER = ("kind", "schema", "pid", "host")


def join_documents(contents: RunContents) -> dict[str, Any]:
    """`run` is the manifest; each part is its document, or null if the run has none."""
    about = {name: value for name, value in contents.manifest.items() if name not in _ABOUT_THE_WRITER}
    return {
        "kind": "report",
        "schema": 1,
        "run": {"id": contents.run.id, **about},
        "unreadable": dict(contents.unreadable),
        "failures": dict(contents.failures),
        **{kind: contents.documents.get(kind) for kind in DOCUMENTS},
        "graphs": list(contents.graphs.values()),
    }
