"""The graphs of a model: what is in each, in numbers; its drawing, its text, and what Inductor made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repro_runner.output.places import shown_where
from repro_runner.output.units import counted, size
from repro_runner.report.contents import Attachment, Attachments, RunContents
from repro_runner.report.parts import PLAIN, Verdict

TITLES = {"pre_aot": "pre-AOT", "forward": "forward", "backward": "backward"}
_FEW_OPS = 3


def graphs_verdict(graphs: Mapping[str, Any], _contents: RunContents) -> Verdict:
    lowered = [
        part for graph in graphs.values() for name, part in graph["graphs"].items() if name in ("forward", "backward")
    ]
    ops = sum(sum(part["ops"].values()) for part in lowered)
    peak = max((part["peak_bytes"] for part in lowered if "peak_bytes" in part), default=None)
    summary = f"{counted(len(graphs), 'graph')}, {counted(ops, 'op')} forward and backward"
    return Verdict(
        state=PLAIN, line=summary if peak is None else f"{summary}; at most {size(peak)} at once in one of them"
    )


def graphs_view(graphs: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Graph by graph, with its files as long as there is room for them."""
    files = Attachments(contents.run)
    return {"graphs": [_graph(name, document, contents.folder, files) for name, document in graphs.items()]}


def describe_parts(document: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    """The graph as Dynamo traced it, its forward and its backward, in numbers; places are relative to `folder`."""
    return [
        {"name": name, "title": title, "number": document["index"], **_numbers(document["graphs"][name], folder)}
        for name, title in TITLES.items()
        if name in document["graphs"]
    ]


def _graph(name: str, document: Mapping[str, Any], folder: Path, files: Attachments) -> dict[str, Any]:
    return {
        "number": document["index"],
        "backend": document["backend"],
        "refused": len(document["violations"]),
        "parameters": size(document["parameters_bytes"]),
        "parts": [
            {
                **part,
                "drawing": files.read(f"{name}/{part['name']}.svg"),
                "text": files.read(f"{name}/{part['name']}.txt"),
            }
            for part in describe_parts(document, folder)
        ],
        "lowered": list(_lowered(name, document.get("inductor", {}), files)),
    }


def _numbers(described: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    often = Counter(described["ops"]).most_common()
    peak = described.get("peak_bytes")
    peak_at = "" if peak is None else shown_where(described["peak_source"], folder)
    return {
        "nodes": described["nodes"],
        "inputs": described["inputs"],
        "outputs": described["outputs"],
        "inputs_size": size(described["inputs_bytes"]),
        "op_count": sum(count for _, count in often),
        "few_ops": often[:_FEW_OPS],
        "ops": often,
        "dtypes": ", ".join(described["dtypes"]),
        "peak": "" if peak is None else size(peak),
        "peak_at": "" if peak is None else f"{described['peak_op']} {peak_at}".strip(),
    }


def _lowered(folder: str, lowered: Mapping[str, Any], files: Attachments) -> Iterator[tuple[str, Attachment]]:
    for name, made in lowered.items():
        for file in made:
            if found := files.read(f"{folder}/inductor/{name}/{file}"):
                yield f"{name}: {file}", found
