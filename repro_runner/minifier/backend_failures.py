"""What a backend does wrong with a graph: it raises, ends the process, never ends, or computes something else."""

from __future__ import annotations

from dataclasses import dataclass

from repro_runner.minifier.failure import Failure
from repro_runner.minifier.graph_minifier import Candidate, GraphMinifier
from repro_runner.minifier.named_backend import NamedBackend
from repro_runner.minifier.parts import compilation, crash, numerics, running
from repro_runner.minifier.recording import RecordedGraph
from repro_runner.minifier.script import Check
from repro_runner.minifier.trials import STILL_FAILS, Outcome, Trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found out about one graph: that it fails, or why nobody knows; neither if it is fine."""

    found: tuple[Candidate, Failure, Check] | None = None
    """A program that fails, how, and what tells."""
    unknown: str = ""


def compilation_check(backend: NamedBackend, expected: str = "") -> Check:
    """Whether it raises this; anything, if nothing is expected."""
    return Check(
        parts=(running, compilation),
        call=f"check_compilation(f, inputs, backend, {expected!r})",
        title=f"{backend.name} raises {{}}",
        code=(backend.code(),),
        modules=backend.modules,
    )


def crash_check(backend: NamedBackend, expected: str, seconds: float) -> Check:
    """Whether it ends the process so, or does not end within its time."""
    return Check(
        parts=(running, crash),
        call=f"check_crash(f, inputs, backend, {expected!r}, seconds={seconds:g})",
        title=f"{backend.name}: {{}}",
        code=(backend.code(),),
        modules=backend.modules,
    )


def numerics_check(backend: NamedBackend) -> Check:
    """Whether it differs from eager."""
    same_random = ("torch._inductor.config.fallback_random = True  # draws as eager does",)
    return Check(
        parts=(running, numerics),
        call="check_numerics(f, inputs, backend)",
        title=f"{backend.name} differs from eager: {{}}",
        code=(backend.code(*(same_random if backend.name == "inductor" else ())),),
        modules=backend.modules,
    )


def examine_compilation(recorded: RecordedGraph, backend: NamedBackend, trials: Trials, seconds: float) -> Examined:
    """Compile the graph and run it, forward and backward."""
    candidate, outcome = _first_failing(recorded, compilation_check(backend), trials)
    if candidate is not None and outcome.fails:
        said = outcome.text.removeprefix(STILL_FAILS)
        check = compilation_check(backend, said)
        failure = Failure(kind="compile", summary=check.title.format(said))
        return Examined(found=(candidate, failure, check))
    if candidate is not None and outcome.code is None:
        check = crash_check(backend, outcome.text, seconds)
        again, ended = _first_failing(recorded, check, trials)
        if again is None:
            return Examined(unknown=f"it {outcome.text}, but: {ended.text}")
        failure = Failure(kind="compile", summary=check.title.format(ended.text.removeprefix(STILL_FAILS)))
        return Examined(found=(again, failure, check))
    return Examined(unknown="" if outcome.code == 0 else outcome.text)


def examine_numerics(recorded: RecordedGraph, backend: NamedBackend, trials: Trials) -> Examined:
    """Compare outputs, gradients and what is left of the inputs with eager's."""
    check = numerics_check(backend)
    candidate, outcome = _first_failing(recorded, check, trials)
    if candidate is not None and outcome.fails:
        said = outcome.text.removeprefix(STILL_FAILS)
        failure = Failure(kind="numeric", summary=check.title.format(said))
        return Examined(found=(candidate, failure, check))
    return Examined(unknown="" if outcome.code == 0 else outcome.text)


def _first_failing(recorded: RecordedGraph, check: Check, trials: Trials) -> tuple[Candidate | None, Outcome]:
    """The first way to write the graph that fails or is killed; else what the last way that says anything says."""
    minifier = GraphMinifier(check, trials)
    last = Outcome(code=3, text="the graph can't be written as a script")
    for candidate in minifier.whole(recorded):
        last = minifier.outcome(candidate)
        if last.fails or last.code is None:
            return candidate, last
        if last.code == 0 and candidate.keep is None:
            break  # with its own inputs it is fine: other ways to write it say nothing new
    return None, last
