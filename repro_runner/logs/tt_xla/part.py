"""A tt-xla log as all logs are told: its graphs and how far each came, its errors, who split, what it can't answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypedDict

from repro_runner.logs.model import LoggedGraph, LogPart
from repro_runner.logs.tt_xla.fitness import MadeWith, find_unfit
from repro_runner.logs.tt_xla.graphs import Graph, Graphs
from repro_runner.logs.tt_xla.splitting import NOT_TOLD, OWN, find_splitter

NAME = "tt-xla"
_LISTED = 20
"""Graphs that get a line of their own for people; the JSON has all."""
_SPLIT = {OWN: "with a frame of its own", NOT_TOLD: "whose splitter this log does not tell"}


class PlaceDocument(TypedDict):
    """A line of the user's code, and how many of the graph's operations come from it."""

    file: str
    line: int
    function: str
    operations: int


class GraphDocument(TypedDict):
    """One graph."""

    log_line: int
    thread: str
    stages: list[str]
    ended: bool
    split: str
    why: str
    errors: list[str]
    places: list[PlaceDocument]


def make_part(
    text: LogPart, graphs: Graphs, made: MadeWith, errors: tuple[tuple[int, str], ...], error_count: int
) -> LogPart:
    """Join what the MLIR side tells with what Dynamo's lines do."""
    made = replace(made, locations=any(graph.places for graph in graphs.all))
    splits = [
        find_splitter(graph.since, resumed=graph.resumed, first=number == 0, with_dynamo=made.dynamo)
        for number, graph in enumerate(graphs.all)
    ]
    counted = [graph for graph in graphs.all if graph.began_here]
    documents = [_graph_document(graph, split) for graph, split in zip(graphs.all, splits, strict=True)]
    return LogPart(
        format=NAME,
        graphs=len(counted) if made.stages else None,
        breaks=text.breaks,
        graph_list=tuple(_as_logged(graph, split) for graph, split in zip(graphs.all, splits, strict=True)),
        rank=text.rank,
        torch=text.torch,
        errors=(*(f"line {line}: {error}" for line, error in errors), *text.errors),
        notes=(*_notes(graphs, counted, splits, made), *_too_many(error_count, len(errors))),
        unfit=tuple(find_unfit(made)),
        details={
            "made_with": made.document(),
            "dynamo_graphs": text.graphs,
            "markers": graphs.markers,
            "last_stages": dict(Counter(graph.stages[-1] for graph in graphs.all)),
            "split_by": dict(Counter(splits)),
            "graphs": documents,
        },
    )


def _as_logged(graph: Graph, split: str) -> LoggedGraph:
    places = graph.top_places()
    (file, line, _), _ = places[0] if places else (("", 0, ""), 0)
    return LoggedGraph(
        log_line=graph.line,
        last_stage=graph.stages[-1],
        stages=tuple(graph.stages),
        error=graph.errors[-1][1] if graph.errors else "",
        location=f"{file}:{line}" if file else "",
        split_by="" if split in {OWN, NOT_TOLD} else split,
    )


def _graph_document(graph: Graph, split: str) -> GraphDocument:
    why = {"torch_xla": graph.since.xla, "export": graph.since.export}.get(split, "")
    return {
        "log_line": graph.line,
        "thread": graph.thread,
        "stages": list(graph.stages),
        "ended": graph.ended,
        "split": split,
        "why": why,
        "errors": [f"line {line}: {text}" for line, text in graph.errors],
        "places": [
            {"file": file, "line": line, "function": function, "operations": count}
            for (file, line, function), count in graph.top_places()
        ],
    }


def _notes(graphs: Graphs, counted: list[Graph], splits: list[str], made: MadeWith) -> Iterator[str]:
    if not made.stages:
        return
    for number, (graph, split) in enumerate(zip(graphs.all[:_LISTED], splits, strict=False), 1):
        yield f"graph {number}: {_describe(graph, split)}"
    if len(graphs.all) > _LISTED:
        stages = Counter(graph.stages[-1] for graph in graphs.all)
        reached = ", ".join(f"{stage} {count}" for stage, count in stages.items())
        yield f"{len(graphs.all) - _LISTED} more graphs are in the JSON; last stages of all: {reached}"
    if lost := len(graphs.all) - len(counted):
        yield f"{lost} of them began before this log does: their vhlo header is missing, they are not counted"
    later = Counter(splits[1:])
    if later:
        told = ", ".join(f"{count} {_SPLIT.get(who, f'split off by {who}')}" for who, count in later.most_common())
        yield f"of the graphs after the first: {told}"


def _describe(graph: Graph, split: str) -> str:
    """How far it came, where it comes from, who split it off: one line."""
    told = [f"from line {graph.line} on, reached {graph.stages[-1]}"]
    if not graph.ended:
        told[0] += ", whose text does not end: the log was cut there"
    for (file, line, function), _ in graph.top_places()[:1]:
        told.append(f"mostly from {file}:{line}" + (f" in {function}" if function else ""))
    if split not in _SPLIT:
        told.append(f"split off by {split}")
    if graph.errors:
        told.append(f"failed: {graph.errors[-1][1]}")
    return "; ".join(told)


def _too_many(count: int, kept: int) -> Iterator[str]:
    if count > kept:
        yield f"{count - kept} more errors are not listed"
