"""Graph breaks, with links to their pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.ids import page_address
from repro_runner.output.places import shown_where
from repro_runner.output.units import counted
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict


def breaks_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    found = _by_place(document)
    if not found:
        return Verdict(state=WORKS, line="none: the model is captured whole")
    ids = ", ".join(dict.fromkeys(each["gb_id"] for each in found))
    fatal = any(each["kind"] == "fatal" for each in found)
    return Verdict(state=BREAKS if fatal else DOUBT, line=f"{counted(len(found), 'break')}: {ids}")


def breaks_view(document: Mapping[str, Any], _contents: RunContents) -> dict[str, Any]:
    """Each break with the line that broke, and the frames that lead to it."""
    return {"breaks": [_break(each) for each in _by_place(document)]}


def _by_place(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One for each id and line: a line that is compiled again breaks again, with other words for the same tensor."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in document["breaks"]:
        first = found.setdefault((each["gb_id"], each["source"], each["kind"]), {**each, "count": 0})
        first["count"] += each["count"]
    return list(found.values())


def _break(each: Mapping[str, Any]) -> dict[str, Any]:
    frames = [{**frame, "shown": shown_where(f"{frame['file']}:{frame['line']}")} for frame in each["stack"]]
    return {
        **each,
        "link": page_address(each["gb_id"]),
        "frames": frames,
        "line": frames[-1] if frames else None,
    }
