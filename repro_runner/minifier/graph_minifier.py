"""From a graph that fails to the smallest script that fails in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule

from repro_runner.minifier.function_source import Unrenderable, operations, render_function
from repro_runner.minifier.recipes import copy_of
from repro_runner.minifier.recording import RecordedGraph
from repro_runner.minifier.script import Check, Script, render_script
from repro_runner.minifier.shrinking import lift_constants, shrink, to_aten
from repro_runner.minifier.trials import Outcome, Trials

_FEW = 3
"""So many aten ops are read at a glance: torch's own functions then say more than the aten ops they are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A program with its inputs, and those of them whose values matter (None: all)."""

    graph: GraphModule
    inputs: tuple[torch.Tensor, ...]
    keep: frozenset[str] | None = frozenset()

    @property
    def operations(self) -> int:
        return operations(self.graph)


class GraphMinifier:
    """Makes candidates of a recorded graph smaller as long as `check`, tried by `trials`, says that they still fail."""

    def __init__(self, check: Check, trials: Trials) -> None:
        self._check, self._trials = check, trials
        self._known: dict[tuple[object, ...], tuple[Outcome, Candidate]] = {}

    def script(self, candidate: Candidate, header: Sequence[str] = ("A candidate.",)) -> Script:
        """Unrenderable if there is no such script."""
        function = render_function(candidate.graph)
        return render_script(header, function, candidate.inputs, self._check, keep=candidate.keep)

    def outcome(self, candidate: Candidate) -> Outcome:
        """What its script says; a program that can't be written down is none."""
        try:
            script = self.script(candidate)
        except Unrenderable as error:
            return Outcome(code=3, text=f"it can't be written as a script: {error}")
        key = (script.text, *(id(each) for each in candidate.inputs if candidate.keep != frozenset()))
        if key not in self._known:
            self._known[key] = self._trials.outcome(script), candidate
        return self._known[key][0]

    def whole(self, recorded: RecordedGraph) -> Iterator[Candidate]:
        """The graph as it is: with drawn inputs, with its own; in torch's functions, in aten ops."""
        for made in (lift_constants, to_aten):
            if (found := made(recorded.traced.pre_aot, recorded.inputs)) is not None:
                graph, inputs = found
                for keep in (frozenset[str](), None):
                    yield Candidate(graph=graph, inputs=tuple(inputs), keep=keep)

    def minify(self, whole: Candidate) -> list[Candidate]:
        """From the smallest to the whole, each of which fails."""
        smaller = self._shrunk(whole)
        found = [self._finished(smaller), smaller, whole]
        if (lowered := self._in_aten(smaller)) is not None and self._fails(lowered):
            least = self._shrunk(lowered)
            if least.operations < lowered.operations:
                found.insert(0, self._finished(least))
        return found

    def _in_aten(self, candidate: Candidate) -> Candidate | None:
        """The same in aten ops, where these are more than a few, or fewer than what they come from."""
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
        """Draw what need not be kept: each input whose values don't matter."""
        if candidate.keep is not None:
            return candidate
        names = render_function(candidate.graph).parameters
        kept = frozenset(names)
        for name in names:
            if self._fails(replace(candidate, keep=kept - {name})):
                kept -= {name}
        return replace(candidate, keep=kept)

    def _without_gradients(self, candidate: Candidate) -> Candidate:
        """All at once, else one by one: few failures need every gradient."""
        places = range(len(candidate.inputs))
        for plain in (set(places), *({place} for place in places)):
            inputs = tuple(
                copy_of(each).requires_grad_(each.requires_grad and place not in plain)
                for place, each in enumerate(candidate.inputs)
            )
            if self._fails(fewer := replace(candidate, inputs=inputs)):
                candidate = fewer
        return candidate
