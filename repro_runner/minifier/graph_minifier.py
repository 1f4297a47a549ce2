"""From a graph that fails to the smallest script that fails in the same way, by torch's own graph minifier."""

from __future__ import annotations

import contextlib
import copy
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from repro_runner.minifier.function_source import Unrenderable, as_function, operations, render_function, switches_modes
from repro_runner.minifier.recipes import copy_of
from repro_runner.minifier.recording import RecordedGraph
from repro_runner.minifier.script import Check, Script, render_script
from repro_runner.minifier.script_runners import Outcome, ScriptRunner
from repro_runner.torch_seams import fx_minifier

_FEW = 3
"""A graph of at most this many aten ops stays in torch's own functions: these say more to a reader."""

Fails = Callable[[GraphModule, Sequence[torch.Tensor]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A program with its inputs, and those of them whose values matter (None: all)."""

    graph: GraphModule
    inputs: tuple[torch.Tensor, ...]
    keep: frozenset[str] | None = frozenset()

    @property
    def operations(self) -> int:
        return operations(self.graph)


class CandidateMinifier(ABC):
    """Makes candidates of a recorded graph smaller as long as they still fail `check`."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._known: dict[tuple[object, ...], tuple[Outcome, Candidate]] = {}

    @abstractmethod
    def try_candidate(self, candidate: Candidate, script: Script) -> Outcome:
        """How the script of this candidate ends, or would end."""

    def script(self, candidate: Candidate, header: Sequence[str] = ("A candidate.",)) -> Script:
        """The script of a candidate. Raises Unrenderable if it can't be written."""
        function = render_function(candidate.graph)
        return render_script(header, function, candidate.inputs, self._check, keep=candidate.keep)

    def outcome(self, candidate: Candidate) -> Outcome:
        """How the candidate's script ends: code 3 if it can't be written. Each script is run once."""
        try:
            script = self.script(candidate)
        except Unrenderable as error:
            return Outcome(code=3, text=f"it can't be written as a script: {error}")
        key = (script.text, *(id(each) for each in candidate.inputs if candidate.keep != frozenset()))
        if key not in self._known:
            self._known[key] = self.try_candidate(candidate, script), candidate
        return self._known[key][0]

    def whole(self, recorded: RecordedGraph) -> Iterator[Candidate]:
        """The whole graph in torch's functions, then in aten ops; each with drawn inputs, then with its own."""
        for made in (lift_constants, to_aten):
            if (found := made(recorded.traced.pre_aot, recorded.inputs)) is not None:
                graph, inputs = found
                for keep in (frozenset[str](), None):
                    yield Candidate(graph=graph, inputs=tuple(inputs), keep=keep)

    def minify(self, whole: Candidate) -> list[Candidate]:
        """Candidates that fail, from the smallest to the whole."""
        smaller = self._shrunk(whole)
        found = [self._finished(smaller), smaller, whole]
        if (lowered := self._in_aten(smaller)) is not None and self._fails(lowered):
            least = self._shrunk(lowered)
            if least.operations < lowered.operations:
                found.insert(0, self._finished(least))
        return found

    def _in_aten(self, candidate: Candidate) -> Candidate | None:
        """The same in aten ops, if these are more than a few, or fewer than the operations before; else None."""
        lowered = to_aten(candidate.graph, candidate.inputs)
        if lowered is None or candidate.operations <= operations(lowered[0]) <= _FEW:
            return None
        keep = None if candidate.keep is None else frozenset[str]()
        return Candidate(graph=lowered[0], inputs=tuple(lowered[1]), keep=keep)

    def _finished(self, candidate: Candidate) -> Candidate:
        return self._without_gradients(self._drawn(candidate))

    def _fails(self, candidate: Candidate) -> bool:
        return self.outcome(candidate).fails

    def _shrunk(self, candidate: Candidate) -> Candidate:
        def fails(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> bool:
            return self._fails(replace(candidate, graph=graph, inputs=tuple(inputs)))

        found = shrink(candidate.graph, candidate.inputs, fails)
        if found is None:
            return candidate
        smaller = replace(candidate, graph=found[0], inputs=tuple(found[1]))
        return smaller if self._fails(smaller) else candidate

    def _drawn(self, candidate: Candidate) -> Candidate:
        """Draw each input whose values don't matter, and keep the others."""
        if candidate.keep is not None:
            return candidate
        names = render_function(candidate.graph).parameters
        kept = frozenset(names)
        for name in names:
            if self._fails(replace(candidate, keep=kept - {name})):
                kept -= {name}
        return replace(candidate, keep=kept)

    def _without_gradients(self, candidate: Candidate) -> Candidate:
        """Drop the inputs' requires_grad: of all at once, else one by one. Few failures need every gradient."""
        places = range(len(candidate.inputs))
        for plain in (set(places), *({place} for place in places)):
            inputs = tuple(
                copy_of(each).requires_grad_(each.requires_grad and place not in plain)
                for place, each in enumerate(candidate.inputs)
            )
            if self._fails(fewer := replace(candidate, inputs=inputs)):
                candidate = fewer
        return candidate


class GraphMinifier(CandidateMinifier):
    """The one that has a runner run the scripts."""

    def __init__(self, check: Check, runner: ScriptRunner) -> None:
        super().__init__(check)
        self._runner = runner

    def try_candidate(self, _candidate: Candidate, script: Script) -> Outcome:
        return self._runner.outcome(script)


def shrink(
    graph: GraphModule, inputs: Sequence[torch.Tensor], fails: Fails
) -> tuple[GraphModule, list[torch.Tensor]] | None:
    """The smallest graph that the minifier finds to fail, where `graph` does; None if it can't deal with this one.

    It runs the graph once to see what each node yields. That may raise anything: a write into a tensor that is now a
    leaf that requires grad is refused, and tensors of `vmap` are not valid outside of it.
    """
    for mode in (torch.enable_grad(), torch.no_grad()):
        with mode, contextlib.suppress(Exception):
            return _minify_with_torch(graph, inputs, fails)
    return None


def _minify_with_torch(
    graph: GraphModule, inputs: Sequence[torch.Tensor], fails: Fails
) -> tuple[GraphModule, list[torch.Tensor]]:
    # It prints what it tries. To redirect the process's output would swallow what other threads print.
    with mock.patch.object(fx_minifier, "print", lambda *_, **__: None, create=True):
        copies = [copy_of(each) for each in inputs]
        smaller, left = fx_minifier.minifier(graph, copies, fails, dump_state=lambda *_: None)
    return smaller, [copy_of(each) for each in left]


def to_aten(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[GraphModule, list[torch.Tensor]] | None:
    """The same program as aten ops, its constants as further inputs; None where it can't be traced so."""
    try:
        # A graph that was cut may leave a mode switched on; the function that is made of it can't.
        function = as_function(graph) if switches_modes(graph) else graph
        lowered = make_fx(function)(*(copy_of(each) for each in inputs))
    except Exception:  # noqa: BLE001 - a program that can't be traced this way stays as it is
        return None
    return lift_constants(lowered, inputs)


def lift_constants(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[GraphModule, list[torch.Tensor]]:
    """The program with its constant tensors as further inputs, so that a script has all tensors in one place."""
    held = [node.name for node in graph.graph.nodes if isinstance(_held_by(graph, node), torch.Tensor)]
    if not held:
        return graph, list(inputs)
    lifted = GraphModule(graph, copy.deepcopy(graph.graph))
    nodes = {node.name: node for node in lifted.graph.nodes}
    *_, first = (node for node in reversed(lifted.graph.nodes) if node.op != "placeholder")
    for name in held:
        with lifted.graph.inserting_before(first):
            placeholder = lifted.graph.placeholder(f"{name}_value")
        nodes[name].replace_all_uses_with(placeholder)
        lifted.graph.erase_node(nodes[name])
    lifted.recompile()
    constants = [_held_by(graph, node) for node in graph.graph.nodes if node.name in held]
    return lifted, [*inputs, *constants]


def _held_by(graph: GraphModule, node: Node) -> Any:
    return operator.attrgetter(str(node.target))(graph) if node.op == "get_attr" else None
