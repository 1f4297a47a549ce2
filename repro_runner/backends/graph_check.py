"""One graph, held to a device's limits: the forward when it is compiled, the backward when it runs first."""

from __future__ import annotations

from collections.abc import Sequence

from repro_runner.backends.graph_dumps import KeptGraph, keep_graph
from repro_runner.backends.refusals import report_violations
from repro_runner.backends.settings import Settings
from repro_runner.constraints import Violation, find_backward_violations, find_violations
from repro_runner.graphs.traced import TracedGraph


class GraphCheck:
    """What a mock backend does with one graph before it lowers it."""

    def __init__(self, settings: Settings, *, backend: str, also_pre_aot: bool = False) -> None:
        self._settings, self._backend, self._also_pre_aot = settings, backend, also_pre_aot
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
        self._report(found)
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
        self._report(found)
        self._backward_to_check = None

    def _report(self, found: Sequence[Violation]) -> None:
        report_violations(tuple(found), strict=self._settings.strict)
