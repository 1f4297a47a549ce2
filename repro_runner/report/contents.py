"""Read what a run holds. What is damaged or newer than this version is named, and the rest is read all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.errors import InvalidInput
from repro_runner.runs import RunFolder
from repro_runner.runs.inventory import DOCUMENTS, graph_folders

FAILURES = "failures.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """The documents of a run, by kind."""

    run: RunFolder
    manifest: Mapping[str, Any]
    documents: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    graphs: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """`graphs/0000` -> its graph.json."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Kind, or folder of a graph -> why its document can't be read."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Kind -> why there is no such document: its part was run, and failed."""


def read_contents(run: RunFolder) -> RunContents:
    """InvalidInput only if the manifest itself can't be read: then it is not known what the run was about."""
    manifest = run.manifest()
    wanted = {kind: (file, kind) for kind, file in {**DOCUMENTS, "failures": FAILURES}.items() if run.has(file)}
    wanted |= {folder: (f"{folder}/graph.json", "graph") for folder in graph_folders(run)}
    found: dict[str, dict[str, Any]] = {}
    unreadable: dict[str, str] = {}
    for name, (file, kind) in wanted.items():
        try:
            found[name] = run.read_document(file, kind)
        except InvalidInput as error:
            unreadable[name] = "; ".join(problem.message for problem in error.problems)
    return RunContents(
        run=run,
        manifest=manifest,
        documents={kind: found[kind] for kind in DOCUMENTS if kind in found},
        graphs={name: document for name, document in found.items() if wanted[name][1] == "graph"},
        unreadable=unreadable,
        failures=_failures(found.get("failures", {})),
    )


def _failures(document: Mapping[str, Any]) -> dict[str, str]:
    told = document.get("failures")
    return {str(kind): str(why) for kind, why in told.items()} if isinstance(told, dict) else {}
