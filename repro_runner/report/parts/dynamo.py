"""What Dynamo made of the model: its graph breaks, its guards and recompiles, and what to do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.ids import page_address
from repro_runner.output.places import shown_place, shown_where
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


def breaks_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Each break with the line that broke, and the frames that lead to it."""
    return {"breaks": [_break_view(each, contents.folder) for each in _by_place(document)]}


def _by_place(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One entry for each id and line: a line that is compiled again breaks again, with another name for the tensor."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in document["breaks"]:
        first = found.setdefault((each["gb_id"], each["source"], each["kind"]), {**each, "count": 0})
        first["count"] += each["count"]
    return list(found.values())


def _break_view(each: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    frames = [{**frame, "shown": shown_place(frame["file"], frame["line"], folder)} for frame in each["stack"]]
    return {
        **each,
        "link": page_address(each["gb_id"]),
        "frames": frames,
        "line": frames[-1] if frames else None,
    }


def guards_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    calls, recompiles = counted(len(document["calls"]), "call"), document["recompiles"]
    if document["failure"]:
        return Verdict(state=BREAKS, line=f"a call fails under torch.compile: {document['failure']}")
    if not recompiles:
        guards = sum(len(graph["guards"]) for graph in document["graphs"])
        return Verdict(state=WORKS, line=f"no recompile in {calls}; {counted(guards, 'guard')}")
    count = sum(each["count"] for each in recompiles)
    limits = [each for each in recompiles if each["limit"]]
    first = recompiles[0]["seen"][:1]
    summary = f"{counted(count, 'recompile')} in {calls}{f': {first[0]}' if first else ''}"
    if limits:
        return Verdict(
            state=BREAKS, line=f"{summary}; torch gave up compiling {limits[0]['function']}: {limits[0]['limit']}"
        )
    return Verdict(state=DOUBT, line=summary)


def guards_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Recompiles with their advice, then graph by graph the guards that are its own; the usual ones are counted."""
    advice = document["advice"]
    return {
        "calls": document["calls"],
        "failure": document["failure"],
        "recompiles": [
            {
                **each,
                "shown": shown_where(each["source"], contents.folder),
                "advice": [advice[place] for place in each["advice"]],
            }
            for each in document["recompiles"]
        ],
        "graphs": [_graph_view(graph, contents.folder) for graph in document["graphs"]],
    }


def _graph_view(graph: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    own = [guard for guard in graph["guards"] if not guard["group"]]
    usual = Counter(guard["group"] for guard in graph["guards"] if guard["group"])
    return {
        **graph,
        "shown": shown_where(graph["source"], folder),
        "own": [{**guard, "line": shown_where(guard["user_line"], folder)} for guard in own],
        "usual": usual.most_common(),
    }
