"""The script of a graph that a mock backend refuses, made while torch compiles that graph.

The user's process must not notice. Tensors have no values here, and AOTAutograd alone traces the candidates: nothing is
run, drawn, compiled or forgotten. It happens in a thread of its own, in which nothing is being compiled and no mode is
on, as in the process that will run the script.
"""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from repro_runner.constraints import (
    Constraint,
    GraphConstraint,
    StaticShapesConstraint,
    TracedTensor,
    Violation,
)
from repro_runner.constraints.nodes import node_value, plain_size
from repro_runner.graphs.traced import TracedGraph, compile_eagerly, decomposition_table
from repro_runner.minifier.function_source import operations
from repro_runner.minifier.graph_minifier import Candidate, CandidateMinifier, lift_constants, to_aten
from repro_runner.minifier.recipes import copy_of
from repro_runner.minifier.recording import RecordedGraph
from repro_runner.minifier.result import NotMinified
from repro_runner.minifier.script import Check, Script, header_lines
from repro_runner.minifier.script_runners import STILL_FAILS, Outcome
from repro_runner.minifier.violations import all_violations, failure_of, preference, violation_checks
from repro_runner.output.units import counted
from repro_runner.torch_seams import FakeTensorMode, dynamo_utils

MOST_OPERATIONS = 80
"""Larger graphs are written whole, and not traced: each step of the minifier takes a tenth of a second or more."""
MOST_SECONDS = 5.0
_TO_FINISH = 5.0
"""Seconds for the step that is under way when the time is over. A thread that takes longer is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedGraph:
    """A script that fails as the graph does, as far as that is known: it was not run."""

    script: str
    operations: int
    original_operations: int
    traced: bool
    """Whether it was traced, and AOTAutograd's graphs of it still break the limit."""

    def __str__(self) -> str:
        if not self.traced:
            return f"the whole graph, {counted(self.operations, 'operation')}; it was neither traced nor run"
        size = f"{self.operations} of {counted(self.original_operations, 'operation')}"
        return f"{size}; it was traced and still breaks the limit, but not run"


def script_of_refusal(
    traced: TracedGraph,
    found: Sequence[Violation],
    constraints: Sequence[Constraint],
    *,
    program: str,
    decompositions: str = "none",
    seconds: float = MOST_SECONDS,
) -> RefusedGraph | None:
    """A script about one of these violations; None if there can be none. It never raises, and takes a few seconds at
    most. `program` is what the graph belongs to, `decompositions` the name of the table that the backend uses."""
    made: list[RefusedGraph] = []
    counted_before = Counter(dynamo_utils.counters["aot_autograd"])
    until = time.monotonic() + seconds

    def make() -> None:
        # Whatever a user's graph may hold; and what it makes or draws has no values, either.
        with contextlib.suppress(Exception), FakeTensorMode(allow_non_fake_inputs=True):
            made.append(_make(traced, found, constraints, program, decompositions, until))

    thread = threading.Thread(target=make, name="graphbreak reproduction", daemon=True)
    thread.start()
    thread.join(seconds + _TO_FINISH)
    dynamo_utils.counters["aot_autograd"] = counted_before
    return made[0] if made else None


def _make(
    traced: TracedGraph,
    found: Sequence[Violation],
    constraints: Sequence[Constraint],
    program: str,
    decompositions: str,
    until: float,
) -> RefusedGraph:
    """Raises NotMinified, or whatever goes wrong."""
    recorded = RecordedGraph(number=0, traced=traced, inputs=())
    pairs = [
        (each, one)
        for one in constraints
        if not isinstance(one, StaticShapesConstraint)  # a script compiles with static shapes
        for each in all_violations(recorded, one)
        if each in found
    ]
    violation, constraint = min(pairs, key=lambda pair: preference(pair[0]))
    failure, original = failure_of(violation), operations(traced.pre_aot)
    small = original <= MOST_OPERATIONS
    for check in violation_checks(failure, constraint, decompositions):
        minifier = _TracingMinifier(check, constraint, violation, decompositions, until if small else 0.0)
        for whole in _ways_to_write(traced.pre_aot, small):
            if (chosen := minifier.smallest(whole)) is None:
                continue
            said = f"{violation.subject} of the {violation.graph} graph: {violation.message}"
            *header, codes = header_lines(program, failure, check, said, (chosen.operations, original), (1, 1))
            not_run = "It was written when the graph was refused, and not run."
            script = minifier.script(chosen, [*header, not_run, codes])
            if not script.saved:
                return RefusedGraph(
                    script=script.text,
                    operations=chosen.operations,
                    original_operations=original,
                    traced=minifier.outcome(chosen).fails,
                )
    raise NotMinified("no program of its own breaks the limit")


class _TracingMinifier(CandidateMinifier):
    """Runs no script. A candidate fails if AOTAutograd's graphs of it still break the limit in the same way."""

    def __init__(
        self, check: Check, constraint: Constraint, violation: Violation, decompositions: str, until: float
    ) -> None:
        super().__init__(check)
        self._constraint, self._violation, self._until = constraint, violation, until
        self._table = decomposition_table(decompositions)

    def smallest(self, whole: Candidate) -> Candidate | None:
        """The smallest that was found in time; the whole, if that was too short to tell; None if it does not fail."""
        without_gradients = tuple(copy_of(each).requires_grad_(False) for each in whole.inputs)
        # Traced in a fraction of the time.
        for start in (replace(whole, inputs=without_gradients), whole):
            if self.outcome(start).fails:
                return next(each for each in self.minify(start) if self.outcome(each).fails)
        return whole if self.outcome(whole).code is None else None

    def try_candidate(self, candidate: Candidate, _script: Script) -> Outcome:
        if time.monotonic() > self._until:
            return Outcome(code=None, text="the time is over")
        graphs: list[TracedGraph] = []
        try:
            compile_eagerly(candidate.graph, candidate.inputs, graphs.append, decompositions=self._table)
        except Exception as error:  # noqa: BLE001 - a candidate may be wrong in any way
            return Outcome(code=3, text=str(error))
        recorded = RecordedGraph(number=0, traced=graphs[0], inputs=candidate.inputs)
        fails = any(self._is_the_same(each) for each in all_violations(recorded, self._constraint))
        return Outcome(code=1, text=STILL_FAILS) if fails else Outcome(code=0, text="gone")

    def _is_the_same(self, other: Violation) -> bool:
        # What is wrong with a graph as a whole can be reported at any of its ops.
        same_op = isinstance(self._constraint, GraphConstraint) or other.op == self._violation.op
        return same_op and other.graph == self._violation.graph


def _ways_to_write(pre_aot: GraphModule, small: bool) -> Iterator[Candidate]:
    """The graph in torch's functions, with tensors that have no values; if it is small, in aten ops, too."""
    graph, tensors = lift_constants(*_with_plain_sizes(pre_aot))
    inputs = tuple(map(_like, tensors))
    yield Candidate(graph=graph, inputs=inputs)
    if small and (lowered := to_aten(graph, inputs)) is not None:
        yield Candidate(graph=lowered[0], inputs=tuple(lowered[1]))


def _with_plain_sizes(graph: GraphModule) -> tuple[GraphModule, list[torch.Tensor]]:
    """A copy in which the sizes that the graph was compiled with stand in the place of inputs that are sizes; and the
    tensors that it takes."""
    static = GraphModule(graph, copy.deepcopy(graph.graph))
    tensors: list[torch.Tensor] = []
    for node in static.graph.find_nodes(op="placeholder"):
        value = node_value(node)
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        else:
            _replace_by_number(node, plain_size(value))
    static.recompile()
    return static, tensors


def _replace_by_number(node: Node, number: int | None) -> None:
    for user in list(node.users):
        user.args, user.kwargs = map_arg((user.args, user.kwargs), lambda each: number if each is node else each)
    node.graph.erase_node(node)


def _like(tensor: torch.Tensor) -> torch.Tensor:
    facts = TracedTensor.of(tensor)
    sizes, strides = ([each for each in known if each is not None] for known in (facts.sizes, facts.strides))
    if len(sizes) != len(facts.sizes) or len(strides) != len(sizes):
        raise NotMinified(f"{facts} has no strides, or none that are known")
    made = torch.empty_strided(sizes, strides, dtype=facts.dtype, device=tensor.device)
    return made.requires_grad_(tensor.requires_grad)
