"""One model on one device: its graphs and breaks, what breaks the device's limits, which ops it lacks, and the cost."""

from __future__ import annotations

import contextlib
import warnings

import torch

from registry.errors import InvalidInput, Problem
from registry.ids import page_address
from repro_runner.adapters.adapter import AcceleratorAdapter, IntegratedMockAdapter
from repro_runner.adapters.capabilities import AcceleratorCapabilities
from repro_runner.adapters.check_result import CheckResult
from repro_runner.adapters.op_support import Judge, list_op_support
from repro_runner.adapters.placement import place_graphs
from repro_runner.backends.graph_dumps import keep_artifacts, keep_graph
from repro_runner.backends.refusals import MalformedSettings
from repro_runner.capture import capture_breaks
from repro_runner.constraints import Constraint, find_violations
from repro_runner.graphs import Trace, trace_model
from repro_runner.graphs.traced import Decompositions, decomposition_table
from repro_runner.model_under_test import ModelFailed, ModelUnderTest
from repro_runner.model_under_test.model import describe_backend_error, where
from repro_runner.process.isolated import doing
from repro_runner.runs import RunFolder

Device = AcceleratorAdapter | AcceleratorCapabilities


def check_model(
    model: ModelUnderTest,
    device: Device | None = None,
    *,
    decompositions: str | Decompositions | None = None,
    inference: bool = False,
    dynamic: bool | None = None,
) -> CheckResult:
    """Trace the model and check every graph, forward and backward, against the device's limits.

    No device: the limits of the mock backend. `decompositions`: a table's name or a mapping; None is the device's own.
    `inference`: under `torch.no_grad()`, without a backward. `dynamic` is torch.compile's. ModelFailed if the model
    raises, InvalidInput if it has nothing to check.
    """
    adapter = IntegratedMockAdapter(device) if not isinstance(device, AcceleratorAdapter) else device
    constraints = _constraints(adapter)
    asked = adapter.decompositions if decompositions is None else decompositions
    table = decomposition_table(asked) if isinstance(asked, str) else asked
    with torch.no_grad() if inference else contextlib.nullcontext():
        trace = _trace(model, table, dynamic)
    breaks = tuple(each for each in trace.breaks if each.happened)
    if not trace.graphs and not breaks:
        raise InvalidInput([Problem(model.name, "the model computes nothing with tensors: there is nothing to check")])
    judge = Judge(constraints)
    return CheckResult(
        device=adapter.get_capabilities().name,
        decompositions=asked if isinstance(asked, str) else "custom",
        graphs=trace.graphs,
        breaks=breaks,
        violations=tuple(
            (index, violation)
            for index, traced in enumerate(trace.graphs)
            for violation in find_violations(constraints, traced.forward, traced.backward)
        ),
        ops=list_op_support(trace.graphs, judge),
        placements=place_graphs(trace.graphs, judge),
    )


def write_check(run: RunFolder, result: CheckResult) -> None:
    """Write everything that was found, and each graph as text and picture. WriteFailed if the disk refuses."""
    documents = result.documents()
    for name, document in documents.items():
        run.write_json(name, document)
    with keep_artifacts(run), warnings.catch_warnings(record=True) as said:
        for index, traced in enumerate(result.graphs):
            found = [violation for graph, violation in result.violations if graph == index]
            keep_graph(traced, found, backend="check", asked=True)
    # Keeping a graph adds its violations to the file.
    run.write_json("violations.json", documents["violations.json"])
    for each in said:  # if the disk refuses the document, too, there is no need to say so twice
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def _constraints(adapter: AcceleratorAdapter) -> tuple[Constraint, ...]:
    try:
        return adapter.constraints()
    except MalformedSettings as error:
        raise InvalidInput([Problem("environment", line) for line in str(error).splitlines()]) from error


def _trace(model: ModelUnderTest, table: Decompositions, dynamic: bool | None) -> Trace:
    doing("tracing the model")
    try:
        with capture_breaks() as breaks:
            return trace_model(model, decompositions=table, dynamic=dynamic)
    # The user's code, or a compiler that trips over it, may raise anything.
    except Exception as error:
        model.run_eagerly()
        place, page = where(error, model.name), ""
        for fatal in (each for each in breaks if each.kind == "fatal"):
            place = f"{fatal.stack[-1].file}:{fatal.stack[-1].line}" if fatal.stack else place
            page = f"; {fatal.gb_id} {page_address(fatal.gb_id)}".rstrip()
        message = f"{describe_backend_error(error)}; it fails only under torch.compile{page}"
        raise ModelFailed([Problem(place, message)]) from error
