"""One graph, held to a device's limits: the forward when it is compiled, the backward when it runs first."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from repro_runner.backends.graph_dumps import KeptGraph, harmless, keep_graph, program_name
from repro_runner.backends.refusals import Reproduction, report_violations
from repro_runner.backends.settings import Settings
from repro_runner.constraints import Violation, find_backward_violations, find_violations
from repro_runner.graphs.traced import Decompositions, TracedGraph

_written: dict[tuple[Path, tuple[Violation, ...]], Reproduction] = {}
"""By run and violations: a program that is refused in a loop is written down once."""


class GraphCheck:
    """What a mock backend does with one graph before it lowers it."""

    def __init__(
        self,
        settings: Settings,
        *,
        backend: str,
        decompositions: str | Decompositions = "none",
        also_pre_aot: bool = False,
    ) -> None:
        """`decompositions` are those that the backend uses; `also_pre_aot` checks Dynamo's graph, too."""
        self._settings, self._backend, self._also_pre_aot = settings, backend, also_pre_aot
        self._decompositions = decompositions
        self._backward_to_check: TracedGraph | None = None
        self._kept: KeptGraph | None = None
        self._backward_is_kept = False

    def before_forward(self, traced: TracedGraph) -> KeptGraph | None:
        """Check the forward, with `check_backward` the backward, too; keep both. Raises ConstraintViolations if the
        device refuses something and the settings are strict."""
        backward = traced.backward if self._settings.check_backward else None
        pre_aot = traced.pre_aot if self._also_pre_aot else None
        found = find_violations(self._settings.constraints, traced.forward, backward, pre_aot=pre_aot)
        self._kept = keep_graph(traced, found, backend=self._backend, asked=self._settings.artifacts)
        self._report(traced, found)
        if backward is None and traced.backward is not None:
            self._backward_to_check = traced
        return self._kept

    def before_backward(self) -> None:
        """Check the backward, if that was not done with the forward; the same may be raised."""
        if (traced := self._backward_to_check) is None or traced.backward is None:
            return
        found = find_backward_violations(self._settings.constraints, traced.forward, traced.backward)
        if found and self._kept is not None and not self._backward_is_kept:
            self._kept.keep_violations(found)
            self._backward_is_kept = True
        self._report(traced, found)
        self._backward_to_check = None

    def _report(self, traced: TracedGraph, found: tuple[Violation, ...]) -> None:
        strict = self._settings.strict
        report_violations(found, strict=strict, script=self._write_script(traced, found) if found and strict else None)

    def _write_script(self, traced: TracedGraph, found: Sequence[Violation]) -> Reproduction | None:
        """Write a script that fails in the same way beside the graph; None if the graph is not kept, or if no script
        can be made of it."""
        if self._kept is None or not isinstance(self._decompositions, str):
            return None
        key = self._kept.run.path, tuple(found)
        if key in _written and _written[key].path.exists():
            return _written[key]
        made = None
        with contextlib.suppress(Exception):  # a torch that lacks something, a process that may start no thread
            from repro_runner.minifier.refused_graph import script_of_refusal  # takes time: not before it is needed

            made = script_of_refusal(
                traced, found, self._settings.constraints, program=program_name(), decompositions=self._decompositions
            )
        if made is not None:
            with harmless():
                _written[key] = Reproduction(path=self._kept.keep_script(made.script), remark=str(made))
                return _written[key]
        return None
