"""The graphs of a model with the inputs they were called with, so that each can be run on its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.graphs import TracedGraph, tracing_backend
from repro_runner.minifier.recipes import copy_of
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.torch_seams import reset


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGraph:
    """One graph between two breaks, and copies of what it was first called with."""

    number: int
    traced: TracedGraph
    inputs: tuple[torch.Tensor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The graphs and breaks of a model that was traced and not lowered."""

    graphs: tuple[RecordedGraph, ...]
    breaks: tuple[CapturedBreak, ...]
    error: Exception | None = None
    """What torch.compile raised although eager does not. No backend is involved."""


def breaks_of_fullgraph(subject: ModelUnderTest) -> tuple[CapturedBreak, ...]:
    """The breaks with fullgraph=True: a few kinds happen only then."""
    reset()
    # The first break raises.
    with capture_breaks() as breaks, contextlib.suppress(Exception):
        subject.run(torch.compile(subject.fresh_model(), backend="eager", fullgraph=True, dynamic=False))
    return tuple(breaks)


def record_graphs(subject: ModelUnderTest) -> Recording:
    """Compile a copy of the model with static shapes and run it once, op by op."""
    traced: list[TracedGraph] = []
    recorded: list[RecordedGraph] = []
    lower = tracing_backend(traced)

    def backend(graph: GraphModule, examples: Sequence[Any], **_: Any) -> Callable[..., Any]:
        compiled = lower(graph, examples)
        own, called = traced[-1], False

        def run(*arguments: Any) -> Any:
            nonlocal called
            if not called and all(isinstance(each, torch.Tensor) for each in arguments):
                inputs = tuple(map(copy_of, arguments))
                recorded.append(RecordedGraph(number=len(recorded), traced=own, inputs=inputs))
            called = True
            return compiled(*arguments)

        return run

    reset()
    error = None
    with capture_breaks() as breaks:
        try:
            subject.run(torch.compile(subject.fresh_model(), backend=backend, dynamic=False))
        except Exception as raised:  # noqa: BLE001 - Dynamo may fail in any way; the error is kept
            error = raised
    return Recording(graphs=tuple(recorded), breaks=tuple(breaks), error=error)
