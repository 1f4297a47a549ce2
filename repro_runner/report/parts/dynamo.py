"""What Dynamo made of the model: its graph breaks, its guards and recompiles, and what to do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.ids import page_address
from repro_runner.output.places import shown_place, shown_where
from repro_runner.output.units import counted
from repro_runner.process.isolated import shortened
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict


def breaks_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    found = _by_place(document)
    if not found:
        return Verdict(state=WORKS, line="none: the model is captured whole")
    ids = ", ".join(dict.fromkeys(each["gb_id"] for each in found))
    fatal = any(each["kind"] == "fatal" for each in found)
    line = f"{counted(len(found), 'break')}: {ids}"
    return Verdict(state=BREAKS if fatal else DOUBT, line=line, figures={"breaks": len(found)})


def breaks_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Each break with the line that broke, and the frames that lead to it. Fatal ones first, then the most frequent."""
    found = sorted(_by_place(document), key=lambda each: (each["kind"] != "fatal", -each["count"]))
    return {"breaks": [_break_view(each, contents.folder) for each in found]}


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
    guards = sum(len(graph["guards"]) for graph in document["graphs"])
    count = sum(each["count"] for each in recompiles)
    figures = {"recompiles": count, "graphs": len(document["graphs"]), "guards": guards}
    if document["failure"]:
        return Verdict(
            state=BREAKS, line=f"a call fails under torch.compile: {shortened(document['failure'])}", figures=figures
        )
    if not recompiles:
        return Verdict(state=WORKS, line=f"no recompile in {calls}; {counted(guards, 'guard')}", figures=figures)
    limits = [each for each in recompiles if each["limit"]]
    first = recompiles[0]["seen"][:1]
    summary = f"{counted(count, 'recompile')} in {calls}{f': {first[0]}' if first else ''}"
    if limits:
        summary += f"; torch gave up compiling {limits[0]['function']}: {limits[0]['limit']}"
    return Verdict(state=BREAKS if limits else DOUBT, line=summary, figures=figures)


def guards_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Recompiles with their advice, the most frequent first; then graph by graph its own guards. The usual ones are
    counted."""
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
            for each in sorted(document["recompiles"], key=lambda each: -each["count"])
        ],
        "graphs": [_graph_view(graph, contents.folder) for graph in document["graphs"]],
        "timeline": _timeline(document),
    }


def _timeline(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What torch did in which call: compiled a function, compiled it again, or gave up. Empty if that is not known."""
    calls: Mapping[str, int] = document.get("compiled_in", {})  # earlier versions did not write it
    why = {
        compile_id: (each["function"], words, "")
        for each in document["recompiles"]
        for compile_id, words in zip(each["compile_ids"], each["seen"], strict=False)
    }
    why |= {
        each["compile_ids"][-1]: (each["function"], each["seen"][-1], each["limit"])
        for each in document["recompiles"]
        if each["limit"] and each["compile_ids"] and each["seen"]
    }
    names = {graph["compile_id"]: graph["name"] for graph in document["graphs"]}
    events = []
    for compile_id, call in calls.items():
        function, words, limit = why.get(compile_id, (names.get(compile_id, ""), "", ""))
        what = "gave up" if limit else "compiled again" if compile_id in why else "compiled"
        reason = "; ".join(filter(None, [words, limit]))
        events.append({"call": call, "compile_id": compile_id, "function": function, "what": what, "why": reason})
    return sorted(events, key=lambda event: event["call"])


def _graph_view(graph: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    own = [guard for guard in graph["guards"] if not guard["group"]]
    usual = Counter(guard["group"] for guard in graph["guards"] if guard["group"])
    return {
        **graph,
        "shown": shown_where(graph["source"], folder),
        "own": [{**guard, "line": shown_where(guard["user_line"], folder)} for guard in own],
        "usual": usual.most_common(),
    }
