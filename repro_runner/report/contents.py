"""Read what a run holds: its documents, joined into one for programs, and the files that a report carries inside.

A document that is damaged or newer than this version is listed as unreadable, and the rest is still read.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.documents import Document, head
from registry.errors import InvalidInput
from repro_runner.output.places import located
from repro_runner.runs import RunFolder
from repro_runner.runs.inventory import DOCUMENTS, graph_folders

FAILURES = "failures.json"
LARGEST_FILE = 400_000
LARGEST_TOTAL = 8_000_000
"""Bytes."""
PNG = b"\x89PNG\r\n\x1a\n"
_ABOUT_THE_WRITER = {*Document.__required_keys__, "pid", "host"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """The documents of a run, by kind."""

    run: RunFolder
    folder: Path
    """`file:line` is shown relative to it."""
    manifest: Mapping[str, Any]
    documents: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    graphs: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """`graphs/0000` -> its graph.json."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Kind, or folder of a graph -> why its document can't be read."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Kind -> why there is no such document: its part was run, and failed."""


def read_contents(run: RunFolder, folder: Path | None = None) -> RunContents:
    """Read every document of the run. `folder` is the one that holds `.graphbreak`, unless another is given.

    Raises InvalidInput only if the manifest can't be read: then it is not known what the run was about.
    """
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
        folder=folder or located(str(run.path), Path.cwd()).parent.parent,
        manifest=manifest,
        documents={kind: found[kind] for kind in DOCUMENTS if kind in found},
        graphs={name: document for name, document in found.items() if wanted[name][1] == "graph"},
        unreadable=unreadable,
        failures=_failures(found.get("failures", {})),
    )


def subject_of(contents: RunContents) -> str:
    """What the run is about: a model as `model.py:make_model`."""
    return str(contents.manifest.get("subject") or contents.run.id)


def read_several(runs: Iterable[RunFolder]) -> tuple[list[RunContents], dict[str, str]]:
    """The runs, and by its path why a run can't be read. Raises InvalidInput if none of them can."""
    found, problems = [], {}
    for run in runs:
        try:
            found.append(read_contents(run))
        except InvalidInput as error:
            problems[str(run.path)] = error.problems
    if not found:
        raise InvalidInput([problem for each in problems.values() for problem in each])
    return found, {path: "; ".join(each.message for each in several) for path, several in problems.items()}


class FailuresDocument(Document):
    """failures.json: kind of document -> why the run has none."""

    failures: dict[str, str]


def keep_failures(run: RunFolder, failures: Mapping[str, str]) -> None:
    """Write down why the run has no such documents."""
    document: FailuresDocument = {**head("failures"), "failures": dict(failures)}
    run.write_json(FAILURES, document)


def _failures(document: Mapping[str, Any]) -> dict[str, str]:
    failures = document.get("failures")
    return {str(kind): str(why) for kind, why in failures.items()} if isinstance(failures, dict) else {}


class ReportDocument(Document):
    """report.json: besides these fields, each document of the run under its kind, or null."""

    run: dict[str, Any]
    """The manifest."""
    unreadable: dict[str, str]
    failures: dict[str, str]
    graphs: list[dict[str, Any]]


def join_documents(contents: RunContents) -> ReportDocument:
    """The documents of a run, joined into one for programs."""
    about = {name: value for name, value in contents.manifest.items() if name not in _ABOUT_THE_WRITER}
    return {
        **head("report"),
        "run": {"id": contents.run.id, **about},
        "unreadable": dict(contents.unreadable),
        "failures": dict(contents.failures),
        **{kind: contents.documents.get(kind) for kind in DOCUMENTS},  # type: ignore[typeddict-item]
        "graphs": list(contents.graphs.values()),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file of the run. One that is too large is named, and stays where it is."""

    name: str
    size: int
    content: bytes | None

    @property
    def text(self) -> str:
        return "" if self.content is None else self.content.decode("utf-8", "replace")

    @property
    def address(self) -> str:
        """The data address of an image. As such a drawing can neither run a script nor style the page."""
        content = self.content or b""
        kind = "png" if content.startswith(PNG) else "svg+xml"
        return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


class Attachments:
    """Reads files of a run, until the total size is reached."""

    def __init__(self, run: RunFolder, total: int = LARGEST_TOTAL) -> None:
        self._run = run
        self.left = total

    def read(self, name: str) -> Attachment | None:
        """The file of this name, without content if it is too large. None if the run has no such file."""
        path = self._run.path / name
        home = self._run.path.resolve()
        if not path.is_file() or not path.resolve().is_relative_to(home):
            return None
        size = path.stat().st_size
        if size > min(LARGEST_FILE, self.left):
            return Attachment(name=name, size=size, content=None)
        self.left -= size
        return Attachment(name=name, size=size, content=path.read_bytes())
