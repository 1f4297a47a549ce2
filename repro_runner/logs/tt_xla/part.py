"""Turn a tt-xla log into a part of an analysis: graphs and their stages, errors, splits, unanswered questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

from repro_runner.logs.model import LoggedGraph, LogPart, Unfit
from repro_runner.logs.tt_xla.graphs import NOT_TOLD, OWN, Graph, GraphFollower, find_splitter

COMMAND = (
    "TTXLA_LOGGER_LEVEL=DEBUG TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG XLA_HLO_DEBUG=1 TORCH_LOGS=+dynamo "
    "python script.py > script.log 2>&1"
)
CHECK_BUILD = "grep CMAKE_BUILD_TYPE build/CMakeCache.txt"
BUILD = "cmake --preset debug && cmake --build build"
NAME = "tt-xla"
_LISTED = 20
"""How many graphs get their own line in the text. The JSON has all graphs."""
_SPLIT = {OWN: "with a frame of its own", NOT_TOLD: "whose splitter this log does not tell"}


@dataclass(slots=True)
class MadeWith:
    """The settings that the log was made with, as far as the log shows them."""

    stages: bool = False
    debug_level: bool = False
    """Whether tt-xla's logger printed lines that need TTXLA_LOGGER_LEVEL=DEBUG."""
    runtime_level: bool = False
    dynamo: bool = False
    locations: bool = False

    def document(self) -> dict[str, bool]:
        return {
            "TTXLA_LOGGER_LEVEL=DEBUG": self.debug_level or self.stages,
            "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG": self.runtime_level,
            "XLA_HLO_DEBUG=1": self.locations,
            "TORCH_LOGS=+dynamo": self.dynamo,
        }


def find_unfit(made: MadeWith) -> Iterator[Unfit]:
    """Yield each question that this log can't answer, with the command that makes a log with the answer."""
    if not made.stages:
        yield Unfit(
            question="how many graphs there are, and how far each came",
            why=f"it has no stage headers: {_why_no_stages(made)}",
            command=f"{BUILD} && {COMMAND}" if made.debug_level else COMMAND,
        )
    if not made.locations:
        yield Unfit(
            question="which lines of Python a graph comes from",
            why='it has no loc("file.py:line") markers: it was made without XLA_HLO_DEBUG=1',
            command=COMMAND,
        )
    if not made.dynamo:
        yield Unfit(
            question="which of Dynamo, torch_xla and export split the graph, and why Dynamo did",
            why="it has no lines of Dynamo's tracer: it was made without TORCH_LOGS=+dynamo",
            command=COMMAND,
        )


def _why_no_stages(made: MadeWith) -> str:
    if made.debug_level:
        return (
            "TTXLA_LOGGER_LEVEL was DEBUG, so tt-xla is a Release build, which prints none; "
            f"`{CHECK_BUILD}` must say Debug"
        )
    return (
        "TTXLA_LOGGER_LEVEL was not DEBUG, or tt-xla is a Release build, which prints none; "
        f"`{CHECK_BUILD}` must say Debug, else build with `{BUILD}`"
    )


class PlaceDocument(TypedDict):
    """A line of the user's code, and how many operations of the graph come from it."""

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
    text: LogPart, graphs: GraphFollower, made: MadeWith, errors: tuple[tuple[int, str], ...], error_count: int
) -> LogPart:
    """Combine the graphs of the MLIR lines with `text`, the part that was read from Dynamo's lines."""
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
        graph_list=tuple(_logged_graph(graph, split) for graph, split in zip(graphs.all, splits, strict=True)),
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


def _logged_graph(graph: Graph, split: str) -> LoggedGraph:
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


def _notes(graphs: GraphFollower, counted: list[Graph], splits: list[str], made: MadeWith) -> Iterator[str]:
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
        split = ", ".join(f"{count} {_SPLIT.get(who, f'split off by {who}')}" for who, count in later.most_common())
        yield f"of the graphs after the first: {split}"


def _describe(graph: Graph, split: str) -> str:
    """One line for a graph: its last stage, its main source line, what split it off, its error."""
    facts = [f"from line {graph.line} on, reached {graph.stages[-1]}"]
    if not graph.ended:
        facts[0] += ", whose text does not end: the log was cut there"
    for (file, line, function), _ in graph.top_places()[:1]:
        facts.append(f"mostly from {file}:{line}" + (f" in {function}" if function else ""))
    if split not in _SPLIT:
        facts.append(f"split off by {split}")
    if graph.errors:
        facts.append(f"failed: {graph.errors[-1][1]}")
    return "; ".join(facts)


def _too_many(count: int, kept: int) -> Iterator[str]:
    if count > kept:
        yield f"{count - kept} more errors are not listed"
