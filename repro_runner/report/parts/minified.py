"""The smallest program that fails as the model does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repro_runner.output.places import shown_where
from repro_runner.output.units import counted
from repro_runner.report.contents import Attachments, RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict


def minified_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    failure = document["failure"]
    if failure is None:
        tried = "; ".join(f"{kind}: {found}" for kind, found in document["tried"].items())
        if document["unknown"]:
            return Verdict(state=DOUBT, line=f"something fails, and was not minified: {'; '.join(document['unknown'])}")
        return Verdict(state=WORKS, line=f"nothing fails ({tried})")
    shrunk = f"{_left(document)} enough"
    if not document["confirmed"]:
        return Verdict(state=DOUBT, line=f"{shrunk}, but on its own the program does not fail: {failure['summary']}")
    return Verdict(state=BREAKS, line=f"{shrunk}: {failure['summary']}")


def _left(document: Mapping[str, Any]) -> str:
    """`2 of 36 operations are`, `1 of 1 operation is`."""
    whole = counted(document["original_nodes"], document["unit"].removesuffix("s"))
    return f"{document['nodes']} of {whole} {'is' if document['nodes'] == 1 else 'are'}"


def minified_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """The program itself, from its own file."""
    if document["failure"] is None:
        return {"failure": None, "tried": document["tried"]}
    return {
        **document,
        "left": _left(document),
        "shown": shown_where(document["failure"]["source"], contents.folder),
        "program": Attachments(contents.run).read(document["script"]),
    }
