"""Find what is wrong with a model, and make the smallest program of it that is wrong in the same way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.constraints import Constraint
from repro_runner.constraints.environment import Environment
from repro_runner.minifier.backend_failures import ScriptBackend, examine_compilation, examine_numerics, read_backend
from repro_runner.minifier.breaks.minify_break import find_break, minify_break
from repro_runner.minifier.function_source import operations
from repro_runner.minifier.graph_minifier import Candidate, GraphMinifier
from repro_runner.minifier.recording import RecordedGraph, Recording, record_graphs
from repro_runner.minifier.result import KINDS, Failure, MinifiedProgram, NotMinified, Search
from repro_runner.minifier.script import Check, header_lines
from repro_runner.minifier.script_runners import STILL_FAILS, InChild, InProcess, ScriptRunner, run_standalone
from repro_runner.minifier.violations import find_violation, violation_checks
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.model_under_test.model import describe_error
from repro_runner.output.units import counted
from repro_runner.process import Limits, temporary_folder
from repro_runner.process.isolated import doing

_STANDS_FOR = {"mock": "aot_eager", "aot": "inductor", "aot_mock": "inductor"}
"""Mock backend -> the backend with which it runs a graph. Its limits are checked separately."""
_TO_START = 120.0
"""Seconds that a fresh process may need to import torch on a busy machine."""


def minify_model(subject: ModelUnderTest, failure: str = "auto", **keywords: Any) -> MinifiedProgram | None:
    """The smallest program that fails as the model does, or None if it does not fail.

    Keywords are those of `search_failure`. NotMinified if something fails, and no program could be made of it.
    """
    search = search_failure(subject, failure, **keywords)
    if search.program is None and search.unknown:
        raise NotMinified("; ".join(f"{kind}: {search.tried[kind]}" for kind in search.unknown))
    return search.program


def search_failure(
    subject: ModelUnderTest,
    failure: str = "auto",
    *,
    backend: str | Callable[..., Any] = "inductor",
    constraints: Iterable[Constraint] | None = None,
    rule: str | None = None,
    gb_id: str | None = None,
    seconds: float = 300.0,
    memory: int = sys.maxsize,
    say: Callable[[str], None] = lambda _: None,
    apart: InChild | None = None,
) -> Search:
    """Look for a failure, minify the first one, and report what was looked for.

    `failure` is violation (of `constraints`, or of the mock backend's own), compile (`backend` raises, crashes, takes
    longer than `seconds` or more than `memory`), numeric (it differs from eager), break, or auto: all of these in turn.
    `rule` and `gb_id` choose among violations and breaks. `say` gets a line at each step. `apart` is a running InChild,
    for callers that search more than once; else one is started when it is needed.
    """
    if failure not in ("auto", *KINDS):
        raise InvalidInput([Problem(f"failure {failure}", f"no such kind; there are auto, {', '.join(KINDS)}")])
    kinds = KINDS if failure == "auto" else (failure,)
    if rule is not None:
        kinds = ("violation",)
    if gb_id is not None:
        kinds = ("break",)
    named = read_backend(_STANDS_FOR.get(backend, backend) if isinstance(backend, str) else backend)
    limits = _environment_limits() if constraints is None else tuple(constraints)
    subject.run_eagerly()
    with ExitStack() as held:
        folder = Path(held.enter_context(temporary_folder("graphbreak-minify-")))
        doing("tracing the model")
        recording = record_graphs(subject)
        doing("shrinking what fails", limited=False)
        search = _Minification(subject, recording, folder, held, Limits(seconds=seconds, memory=memory), say, apart)
        return search.run(kinds, named, limits, rule, gb_id)


def _environment_limits() -> tuple[Constraint, ...]:
    environment = Environment()
    limits = environment.constraints()
    if environment.problems:
        raise InvalidInput([Problem("environment", problem) for problem in sorted(environment.problems)])
    return limits


@dataclass(slots=True)
class _Minification:
    subject: ModelUnderTest
    recording: Recording
    folder: Path
    held: ExitStack
    limits: Limits
    say: Callable[[str], None]
    apart: InChild | None
    tried: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def run(
        self,
        kinds: Sequence[str],
        backend: ScriptBackend,
        constraints: Sequence[Constraint],
        rule: str | None,
        gb_id: str | None,
    ) -> Search:
        ways: dict[str, Callable[[], MinifiedProgram | None]] = {
            "violation": lambda: self._minify_violation(constraints, rule),
            "compile": lambda: self._minify_backend_failure("compile", backend),
            "numeric": lambda: self._minify_backend_failure("numeric", backend),
            "break": lambda: self._minify_break(gb_id),
        }
        for kind in kinds:
            try:
                program = ways[kind]()
            except NotMinified as error:
                self._note_unknown(kind, str(error))
                continue
            if program is not None:
                self.tried[kind] = program.failure.summary
                return Search(program=program, tried=self.tried)
        if self.recording.error is not None:
            self._note_unknown(
                "compile", f"Dynamo raises before any backend sees a graph: {describe_error(self.recording.error)}"
            )
        return Search(program=None, tried=self.tried, unknown=tuple(self.unknown))

    def _note_unknown(self, kind: str, why: str) -> None:
        self.tried[kind] = why
        self.unknown.append(kind)

    def _minify_violation(self, constraints: Sequence[Constraint], rule: str | None) -> MinifiedProgram | None:
        self.tried["violation"] = f"none of {', '.join(dict.fromkeys(each.rule for each in constraints)) or 'no rules'}"
        found = find_violation(self.recording, constraints, rule)
        if found is None:
            return None
        recorded, failure, constraint = found
        here = InProcess(self.folder)
        for check in violation_checks(failure, constraint):
            minifier = GraphMinifier(check, here)
            for whole in minifier.whole(recorded):
                if minifier.outcome(whole).fails:
                    return self._program(recorded, failure, minifier, whole, check)
        raise NotMinified(f"{failure.summary}: there, but not in a program of its own")

    def _minify_backend_failure(self, kind: str, backend: ScriptBackend) -> MinifiedProgram | None:
        self.tried[kind] = f"none with {backend.name}"
        unknown = []
        for recorded in self.recording.graphs:
            self.say(f"{backend.name}, graph {recorded.number + 1} of {len(self.recording.graphs)}: {kind} ...")
            if kind == "compile":
                examined = examine_compilation(recorded, backend, self._runner(), self.limits.seconds)
            else:
                examined = examine_numerics(recorded, backend, self._runner())
            if examined.found is not None:
                candidate, failure, check = examined.found
                minifier = GraphMinifier(check, self._runner())
                return self._program(recorded, failure, minifier, candidate, check)
            if examined.unknown:
                unknown.append(f"graph {recorded.number + 1}: {examined.unknown}")
        if unknown:
            raise NotMinified("; ".join(unknown))
        return None

    def _minify_break(self, gb_id: str | None) -> MinifiedProgram | None:
        self.tried["break"] = "none"
        found = find_break(self.subject, self.recording, gb_id)
        if found is None:
            return None
        self.say(f"found a break, {found.gb_id}; cutting down the function that breaks ...")
        device = "cuda" if self._device() == "cuda" else "cpu"  # the runner of repros knows these two
        seconds = self.limits.seconds + _TO_START
        return minify_break(self.subject, found, self._runner, device=device, seconds=seconds)

    def _device(self) -> str:
        """The kind of device that the model runs on."""
        devices = {each.device.type for graph in self.recording.graphs for each in graph.inputs}
        return next(iter(sorted(devices - {"cpu"})), "cpu")

    def _runner(self) -> ScriptRunner:
        if self.apart is None:
            self.apart = self.held.enter_context(InChild(self.folder, self.limits, device=self._device()))
        return self.apart

    def _program(
        self, recorded: RecordedGraph, failure: Failure, minifier: GraphMinifier, whole: Candidate, check: Check
    ) -> MinifiedProgram:
        """Shrink the candidate, and run the result on its own. If that no longer fails, try a larger candidate."""
        original = operations(recorded.traced.pre_aot)
        self.say(f"found: {failure.summary}; shrinking {counted(original, 'operation')} ...")
        programs: dict[str, MinifiedProgram] = {}
        for candidate in minifier.minify(whole):
            said = minifier.outcome(candidate).text.removeprefix(STILL_FAILS)
            part = (recorded.number + 1, len(self.recording.graphs))
            header = header_lines(self.subject.name, failure, check, said, (candidate.operations, original), part)
            script = minifier.script(candidate, header)
            if script.text in programs:
                continue
            self.say(f"running what is left, {counted(candidate.operations, 'operation')}, on its own ...")
            outcome = run_standalone(script, seconds=4 * self.limits.seconds + _TO_START)
            program = MinifiedProgram(
                script=script.text,
                failure=failure,
                confirmed=outcome.fails,
                output=outcome.text,
                original_nodes=original,
                nodes=candidate.operations,
                tensors=script.saved,
                modules=script.modules,
            )
            if program.confirmed:
                return program
            programs[script.text] = program
        return next(iter(programs.values()))
