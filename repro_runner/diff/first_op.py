"""Find the first op of a graph whose output differs once a backend compiles it.

The graph is the one that Dynamo traced. A prefix of it, its first ops, is compiled by itself and compared with the same
ops run eagerly, from the same inputs and random numbers. A plain bisection is not enough, for two reasons. A difference
can vanish further on (`relu` of a negative number), so that a longer prefix may be right where a shorter one is wrong.
And a backend fuses ops: one may be wrong only when it is compiled together with others. So:

1. The whole graph is compiled once with every op's value as an output. That shows which op is wrong first, vanished or
   not, unless the outputs kept the backend from fusing. If the prefix that ends with this op is wrong, and the prefix
   before it is right, this is the op: three compilations.
2. Otherwise prefixes are compiled one after the other until one is wrong; in a graph with more ops than
   `max_prefixes`, by bisection. Step 1 on that prefix shows what is wrong in it: its last op, or another op that is
   wrong only together with the others, or no op. An op is not blamed for a difference that only the whole graph has.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.backends.by_name import Backend
from repro_runner.diff.comparison import LeafComparison, compare_leaves
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.execution import CompiledGraph
from repro_runner.diff.prefixes import Cut, GraphInputs, GraphPrefixes, Operand, run_graph
from repro_runner.model_under_test.model import describe_error
from repro_runner.values import Flat

_STEPS_BACK = 4
"""How many ops before a guess the wrong op may be: a guess does not see values that later ops write to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An op of a graph that Dynamo traced."""

    name: str
    """`torch.relu`, `Tensor.add_`."""
    node: str
    source: str
    """`file:line` of the user's code."""
    position: int
    """Counted from 1 among the ops that yield tensors."""
    operands: tuple[Operand, ...]

    def to_document(self) -> dict[str, Any]:
        operands = [{"name": each.name, "dtype": each.dtype, "shape": list(each.shape)} for each in self.operands]
        plain = {name: getattr(self, name) for name in ("name", "node", "source", "position")}
        return {**plain, "operands": operands}

    def __str__(self) -> str:
        return f"{self.name} (node {self.node}, op {self.position}{f', {self.source}' if self.source else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """Where outputs begin to differ. `kind` says what `op` is:

    op         the first op whose output differs
    fused      the shortest prefix that differs ends with it, but its values are right once each of them is an output
    together   its value differs, but only if what follows, up to `until`, is compiled with it
    whole      None: no prefix of the graph differs, only the whole
    outside    None: no graph differs from the same graph run eagerly
    failed     None: the backend could not compile a prefix; `error` says why
    """

    kind: str
    compiled: int
    """How many graphs were compiled to find it."""
    ops: int = 0
    """The number of ops in the graph."""
    graph: int | None = None
    """Which of the model's graphs, counted from 0 in the order in which they were compiled."""
    op: Op | None = None
    until: Op | None = None
    difference: LeafComparison | None = None
    alone: bool | None = None
    """Whether the op differs when it is compiled by itself, on what it gets in eager; None if that can't be tried."""
    error: str = ""

    def to_document(self) -> dict[str, Any]:
        difference = None if self.difference is None else self.difference.to_document()
        plain = {name: getattr(self, name) for name in ("kind", "graph", "ops", "compiled", "alone", "error")}
        ops = {"op": self.op and self.op.to_document(), "until": self.until and self.until.to_document()}
        return {**plain, **ops, "difference": difference}


class PrefixFailed(Exception):
    """The backend could not compile or run some of the first ops by themselves."""


class Search:
    """The search in one graph that was called with `inputs`."""

    def __init__(self, graph: GraphModule, inputs: GraphInputs, backend: Backend, config: ComparisonConfig) -> None:
        self._inputs, self._backend, self._config = inputs, backend, config
        self._prefixes = GraphPrefixes(graph, inputs.fresh()[0])
        self._cuts = self._prefixes.cuts
        self._compiled = 0
        self._differences: dict[int, list[LeafComparison]] = {-1: []}

    def run(self, graph: int) -> FirstDifference:
        """Run the search. `graph` is the number of this graph in the model."""
        try:
            kind, at, until = self._find()
            alone = None if at is None else self._differs_alone(self._cuts[at])
        except PrefixFailed as failure:
            return FirstDifference(
                kind="failed", graph=graph, ops=len(self._cuts), compiled=self._compiled, error=str(failure)
            )
        return FirstDifference(
            kind=kind,
            graph=graph,
            ops=len(self._cuts),
            compiled=self._compiled,
            op=None if at is None else self._describe_op(at),
            until=None if until is None else self._describe_op(until),
            difference=None if at is None else self._difference(at, at if until is None else until),
            alone=alone,
        )

    def _find(self) -> tuple[str, int | None, int | None]:
        """The kind of a FirstDifference, and the positions of its `op` and its `until`."""
        last = len(self._cuts) - 1
        if last < 0:
            return "whole", None, None
        guess = self._first_wrong_value(last)
        if guess is not None and self._differs(guess) and not self._differs(guess - 1):
            return "op", guess, None
        shortest = self._shortest_that_differs(guess)
        if shortest is None or shortest == last:
            return "whole", None, None
        wrong = self._first_wrong_value(shortest)
        if wrong is None:
            return "fused", shortest, None
        return ("op", wrong, None) if wrong == shortest else ("together", wrong, shortest)

    def _shortest_that_differs(self, guess: int | None) -> int | None:
        """The position at which the shortest prefix that differs ends; None if none differs. The search first looks at
        the guess and a few steps before it."""
        if guess is not None and self._differs(guess):
            for at in range(guess, max(guess - _STEPS_BACK, 0), -1):
                if not self._differs(at - 1):
                    return at
        last = len(self._cuts) - 1
        if last < self._config.max_prefixes:
            return next((at for at in range(last + 1) if self._differs(at)), None)
        if not self._differs(last):
            return None
        right, wrong = -1, last
        while wrong - right > 1:
            middle = (right + wrong) // 2
            right, wrong = (right, middle) if self._differs(middle) else (middle, wrong)
        return wrong

    def _differs(self, at: int) -> bool:
        """Whether the prefix that ends with this op has other results than the same ops run eagerly."""
        if at not in self._differences:
            prefix, nodes = self._prefixes.up_to(self._cuts[at])
            names = [node.name for node in nodes]
            self._differences[at] = self._compile_and_compare(prefix, names, self._inputs, f"its first {at + 1} ops")
        return bool(self._differences[at])

    def _first_wrong_value(self, at: int) -> int | None:
        """Compile the ops up to this one with all their values as outputs; return the position of the first value that
        differs. It is `at` if only a gradient, or something that an op writes to, differs; None if nothing does."""
        graph, nodes = self._prefixes.instrumented(self._cuts[at])
        try:
            differences = self._compile_and_compare(graph, [node.name for node in nodes], self._inputs, "")
        except PrefixFailed:
            return None  # so many outputs may be too much for the backend or the memory; it was only a guess
        if not differences:
            return None
        owner = {cut.node.name: place for place, cut in enumerate(self._cuts)}
        return owner.get(differences[0].name.rpartition("[")[0], at)

    def _differs_alone(self, cut: Cut) -> bool | None:
        found = self._prefixes.alone(cut, self._inputs.fresh()[0])
        if found is None:
            return None
        graph, operands = found
        try:
            return bool(self._compile_and_compare(graph, [cut.node.name for _ in cut.places], operands, ""))
        except PrefixFailed:
            return None  # the op is known already; this would only add a detail

    def _compile_and_compare(
        self, graph: GraphModule, names: Sequence[str], inputs: GraphInputs, what: str
    ) -> list[LeafComparison]:
        """What differs. The backend is called directly, as Dynamo would call it: the graph is traced already."""
        gradients = self._config.gradients
        expected = run_graph(graph, inputs, names, gradients=gradients)
        self._compiled += 1
        try:
            with torch.set_grad_enabled(torch.is_grad_enabled()):
                compiled = self._backend(graph, inputs.fresh()[0])
            found = run_graph(compiled, inputs, names, gradients=gradients)
        except Exception as error:
            raise PrefixFailed(f"{what}: {describe_error(error)}") from error
        return [*self._differing(expected[0], found[0], "output"), *self._differing(expected[1], found[1], "effect")]

    def _differing(self, expected: Flat, found: Flat, part: str) -> list[LeafComparison]:
        return [each for each in compare_leaves(expected, found, part, self._config) if not each.passed]

    def _difference(self, at: int, until: int) -> LeafComparison:
        """The difference of the op's own value, if the prefix has it as an output; else the first difference."""
        own = f"{self._cuts[at].node.name}["
        differences = self._differences[until]
        return next((each for each in differences if each.name.startswith(own)), differences[0])

    def _describe_op(self, at: int) -> Op:
        cut = self._cuts[at]
        return Op(name=cut.op, node=cut.node.name, source=cut.source, position=at + 1, operands=cut.operands)


class WatchedGraphs:
    """A backend that compiles as another does, and finds the first op that differs in the first call that does.

    The search runs inside that call, so that the autocast, the grad mode and whatever else the user has set is set.
    """

    def __init__(self, backend: Backend, config: ComparisonConfig) -> None:
        self._backend, self._config = backend, config
        self._graphs = 0
        self._found: FirstDifference | None = None

    @property
    def first_difference(self) -> FirstDifference:
        return self._found or FirstDifference(kind="outside", compiled=self._graphs)

    def __call__(self, graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        number, original = self._graphs, deepcopy(graph)
        self._graphs += 1
        compiled = self._backend(graph, inputs, **keywords)

        def call(*arguments: Any) -> Any:
            if self._found is None:
                self._found = self._search(number, original, compiled, arguments)
            return compiled(*arguments)

        return call

    def _search(
        self, number: int, original: GraphModule, compiled: CompiledGraph, arguments: Sequence[Any]
    ) -> FirstDifference | None:
        try:
            inputs = GraphInputs(arguments)
            try:
                if not self._differs(original, compiled, inputs):
                    return None
                return Search(original, inputs, self._backend, self._config).run(number)
            finally:
                inputs.restore_random()
        except Exception as error:  # noqa: BLE001 - what was compared already is not lost, whatever went wrong here
            return FirstDifference(kind="failed", graph=number, compiled=0, error=describe_error(error))

    def _differs(self, original: GraphModule, compiled: CompiledGraph, inputs: GraphInputs) -> bool:
        names = [f"output {place}" for place in range(len(original.graph.output_node().args[0]))]  # type: ignore[arg-type]
        expected, found = (
            run_graph(call, inputs, names, gradients=self._config.gradients) for call in (original, compiled)
        )
        return any(
            not leaf.passed
            for each in range(2)
            for leaf in compare_leaves(expected[each], found[each], "output", self._config)
        )
