"""One model on one device: its graphs and breaks, what breaks the device's limits, which ops it lacks, and the cost."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from registry.ids import page_address
from repro_runner.adapters.adapter import AcceleratorAdapter, IntegratedMockAdapter
from repro_runner.adapters.capabilities import AcceleratorCapabilities
from repro_runner.adapters.decompositions import decomposition_table
from repro_runner.adapters.op_support import Judge, OpSupport, list_op_support
from repro_runner.adapters.placement import Placement, place_graphs
from repro_runner.adapters.summary import render_summary
from repro_runner.adapters.transfers import Transfers
from repro_runner.backends.graph_dumps import keep_artifacts, keep_graph
from repro_runner.backends.refusals import MalformedSettings
from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.capture.breaks import breaks_document
from repro_runner.constraints import Constraint, Violation, find_violations, violation_record, violations_document
from repro_runner.graphs import Trace, TracedGraph, trace_model
from repro_runner.graphs.traced import Decompositions
from repro_runner.model_under_test import ModelFailed, ModelUnderTest
from repro_runner.model_under_test.model import describe_error, where
from repro_runner.runs import RunFolder

Device = AcceleratorAdapter | AcceleratorCapabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What was found. `documents()` are the files of a run, `summary()` is for a terminal."""

    device: str
    decompositions: str
    graphs: tuple[TracedGraph, ...]
    breaks: tuple[CapturedBreak, ...]
    """Those that happened."""
    violations: tuple[tuple[int, Violation], ...]
    """Each with the index of its graph."""
    ops: tuple[OpSupport, ...]
    placements: tuple[Placement, ...]

    @property
    def refused(self) -> bool:
        """Does the device refuse anything? It gets nothing at all of a model that breaks everywhere."""
        return bool(self.violations) or not self.graphs

    @property
    def transfers(self) -> Transfers:
        return sum((each.transfers for each in self.placements), Transfers())

    @property
    def least_transfers(self) -> Transfers:
        """If the device had every op."""
        return sum((each.least_transfers for each in self.placements), Transfers())

    def summary(self) -> str:
        """Plain text; paths are relative to the current folder where they can be."""
        return render_summary(self)

    def documents(self) -> dict[str, Mapping[str, Any]]:
        """File name -> content."""
        return {
            "breaks.json": breaks_document(self.breaks),
            "violations.json": violations_document(violation_record(each, index) for index, each in self.violations),
            "op_support.json": {
                "kind": "op_support",
                "schema": 1,
                "device": self.device,
                "decompositions": self.decompositions,
                "ops": [_op_record(op) for op in self.ops],
                "partition": self._partition_record(),
            },
        }

    def _partition_record(self) -> dict[str, Any]:
        return {
            "partitions": sum(len(each.parts) for each in self.placements),
            "ops_on_device": sum(each.ops_on_device for each in self.placements),
            "ops_fallen_back": sum(each.ops_fallen_back for each in self.placements),
            "transfers": asdict(self.transfers),
            "least_transfers": asdict(self.least_transfers),
            "graphs": [
                {
                    "index": each.index,
                    "graph": each.graph,
                    "partitions": [{"ops": part} for part in each.parts],
                    "fallen_back": each.fallen_back,
                    "transfers": asdict(each.transfers),
                    "least_transfers": asdict(each.least_transfers),
                    "peak_bytes": each.peak_bytes,
                }
                for each in self.placements
            ],
        }


def check_model(
    subject: ModelUnderTest,
    device: Device | None = None,
    *,
    decompositions: str | Decompositions | None = None,
    inference: bool = False,
    dynamic: bool | None = None,
) -> CheckResult:
    """Trace the model and hold every graph, forward and backward, against the device's limits.

    No device: the limits of the mock backend. `decompositions`: a table's name or a mapping; None is the device's own.
    `inference`: under `torch.no_grad()`, without a backward. `dynamic` is torch.compile's. ModelFailed if the model
    raises, InvalidInput if it has nothing to check.
    """
    adapter = IntegratedMockAdapter(device) if not isinstance(device, AcceleratorAdapter) else device
    constraints = _constraints(adapter)
    asked = adapter.decompositions if decompositions is None else decompositions
    table = decomposition_table(asked) if isinstance(asked, str) else asked
    with torch.no_grad() if inference else contextlib.nullcontext():
        trace = _traced(subject, table, dynamic)
    breaks = tuple(each for each in trace.breaks if each.happened)
    if not trace.graphs and not breaks:
        raise InvalidInput(
            [Problem(subject.name, "the model computes nothing with tensors: there is nothing to check")]
        )
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
    """Everything that was found, and each graph as text and picture; WriteFailed if the disk refuses."""
    documents = result.documents()
    for name, document in documents.items():
        run.write_json(name, document)
    with keep_artifacts(run):
        for index, traced in enumerate(result.graphs):
            found = [violation for graph, violation in result.violations if graph == index]
            keep_graph(traced, found, backend="check", asked=True)
    # Keeping a graph adds its violations to the file.
    run.write_json("violations.json", documents["violations.json"])


def _constraints(adapter: AcceleratorAdapter) -> tuple[Constraint, ...]:
    try:
        return adapter.constraints()
    except MalformedSettings as error:
        raise InvalidInput([Problem("environment", line) for line in str(error).splitlines()]) from error


def _traced(subject: ModelUnderTest, table: Decompositions, dynamic: bool | None) -> Trace:
    try:
        with capture_breaks() as breaks:
            return trace_model(subject, decompositions=table, dynamic=dynamic)
    # The user's code, or a compiler that trips over it, may raise anything.
    except Exception as error:
        subject.run_eagerly()
        place, page = where(error, subject.name), ""
        for fatal in (each for each in breaks if each.kind == "fatal"):
            place = f"{fatal.stack[-1].file}:{fatal.stack[-1].line}" if fatal.stack else place
            page = f"; {fatal.gb_id} {page_address(fatal.gb_id)}".rstrip()
        message = f"{describe_error(error)}; it fails only under torch.compile{page}"
        raise ModelFailed([Problem(place, message)]) from error


def _op_record(op: OpSupport) -> dict[str, Any]:
    return {
        "op": op.op,
        "supported": op.supported,
        "count": op.count,
        "forward": op.forward,
        "backward": op.backward,
        "refused": op.refused,
        "dtypes": list(op.dtypes),
        "sources": list(op.sources),
        "reasons": [{**asdict(reason), "count": count} for reason, count in op.reasons],
    }
