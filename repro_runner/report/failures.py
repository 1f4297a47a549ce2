"""What a run keeps of parts that failed: failures.json, and the stack of the process that died."""

from __future__ import annotations

from collections.abc import Mapping

from registry.documents import Document, head
from repro_runner.runs import RunFolder

FAILURES = "failures.json"
STACK = "traceback.txt"


class FailuresDocument(Document):
    """failures.json: kind of document -> why the run has none."""

    failures: dict[str, str]


def keep_failures(run: RunFolder, failures: Mapping[str, str]) -> None:
    """Write down why the run has no such documents."""
    document: FailuresDocument = {**head("failures"), "failures": dict(failures)}
    run.write_json(FAILURES, document)


def keep_stack(run: RunFolder, stack: str) -> None:
    """Write down the stack of a process that died, after those that are there."""
    if stack:
        earlier = (run.path / STACK).read_text("utf-8") if run.has(STACK) else ""
        run.write_text(STACK, f"{earlier}\n{stack}".lstrip())
