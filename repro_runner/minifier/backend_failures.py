"""What a backend does wrong with a graph: it raises, ends the process, never ends, or computes something else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.graphs.by_name import OWN, find_backend
from repro_runner.minifier.graph_minifier import Candidate, GraphMinifier
from repro_runner.minifier.parts.backends import check_compilation, check_crash, check_numerics
from repro_runner.minifier.recording import RecordedGraph
from repro_runner.minifier.result import Failure
from repro_runner.minifier.script import Check
from repro_runner.minifier.script_runners import STILL_FAILS, Outcome, ScriptRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptBackend:
    """How a script gets a backend: the body of a function `backend()`, and the modules that it has to import."""

    name: str
    body: tuple[str, ...]
    modules: tuple[str, ...] = ()

    def code(self, *before: str) -> str:
        """`def backend(): …`, with the lines `before` at its beginning."""
        return "\n".join(["def backend():", *(f"    {line}".rstrip() for line in (*before, *self.body))])


def read_backend(backend: str | Callable[..., Any]) -> ScriptBackend:
    """Find a backend. Raises InvalidInput if there is none, or if it has no name that another process could use."""
    if not isinstance(backend, str):
        return read_backend(_name_of(backend))
    function = find_backend(backend)
    source, _, attribute = OWN.get(backend, backend).rpartition(":")
    if source:
        # A script imports a file as a module: the folder of the file has to be on the path.
        path = Path(source)
        folder, module = (path.resolve().parent, path.stem) if source.endswith(".py") else (Path.cwd(), source)
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        body = (f"from {module} import {attribute}", "", f"return {attribute}")
        return ScriptBackend(name=backend, body=body, modules=(module,))
    home = getattr(function, "__module__", "torch")
    found = f'return "{backend}"'
    if home.partition(".")[0] == "torch" or backend in entry_points(group="torch_dynamo_backends").names:
        return ScriptBackend(name=backend, body=(found,))
    return ScriptBackend(name=backend, body=(f"import {home}  # registers it", "", found), modules=(home,))


def _name_of(function: Callable[..., Any]) -> str:
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module in ("", "__main__") or getattr(sys.modules.get(module), name, None) is not function:
        how = "name a registered backend, or `module:attribute`, or `FILE.py:attribute`"
        raise InvalidInput([Problem(f"backend {name or function!r}", f"another process can't import it; {how}")])
    return f"{module}:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result for one graph: how it fails, or why that is not known; both are empty if it works."""

    found: tuple[Candidate, Failure, Check] | None = None
    """A program that fails, its failure, and the check that detects it."""
    unknown: str = ""


def compilation_check(backend: ScriptBackend, expected: str = "") -> Check:
    """A check whether the backend raises `expected`; anything, if that is empty."""
    return Check(
        parts=(check_compilation,),
        call=f"check_compilation(f, inputs, backend, {expected!r})",
        title=f"{backend.name} raises {{}}",
        code=(backend.code(),),
        modules=backend.modules,
    )


def crash_check(backend: ScriptBackend, expected: str, seconds: float) -> Check:
    """A check whether the backend ends the process in the expected way, or runs longer than `seconds`."""
    return Check(
        parts=(check_crash,),
        call=f"check_crash(f, inputs, backend, {expected!r}, seconds={seconds:g})",
        title=f"{backend.name}: {{}}",
        code=(backend.code(),),
        modules=backend.modules,
    )


def numerics_check(backend: ScriptBackend) -> Check:
    """A check whether the backend's results differ from eager's."""
    same_random = ("torch._inductor.config.fallback_random = True  # draws as eager does",)
    return Check(
        parts=(check_numerics,),
        call="check_numerics(f, inputs, backend)",
        title=f"{backend.name} differs from eager: {{}}",
        code=(backend.code(*(same_random if backend.name == "inductor" else ())),),
        modules=backend.modules,
    )


def examine_compilation(
    recorded: RecordedGraph, backend: ScriptBackend, runner: ScriptRunner, seconds: float
) -> Examined:
    """Compile the graph and run it, forward and backward."""
    candidate, outcome = _first_failing(recorded, compilation_check(backend), runner)
    if candidate is not None and outcome.fails:
        said = outcome.text.removeprefix(STILL_FAILS)
        check = compilation_check(backend, said)
        failure = Failure(kind="compile", summary=check.title.format(said))
        return Examined(found=(candidate, failure, check))
    if candidate is not None and outcome.code is None:
        check = crash_check(backend, outcome.text, seconds)
        again, ended = _first_failing(recorded, check, runner)
        if again is None:
            return Examined(unknown=f"it {outcome.text}, but: {ended.text}")
        failure = Failure(kind="compile", summary=check.title.format(ended.text.removeprefix(STILL_FAILS)))
        return Examined(found=(again, failure, check))
    return Examined(unknown="" if outcome.code == 0 else outcome.text)


def examine_numerics(recorded: RecordedGraph, backend: ScriptBackend, runner: ScriptRunner) -> Examined:
    """Compare outputs, gradients and what is left of the inputs with eager's."""
    check = numerics_check(backend)
    candidate, outcome = _first_failing(recorded, check, runner)
    if candidate is not None and outcome.fails:
        said = outcome.text.removeprefix(STILL_FAILS)
        failure = Failure(kind="numeric", summary=check.title.format(said))
        return Examined(found=(candidate, failure, check))
    return Examined(unknown="" if outcome.code == 0 else outcome.text)


def _first_failing(recorded: RecordedGraph, check: Check, runner: ScriptRunner) -> tuple[Candidate | None, Outcome]:
    """The first way to write the graph that fails or is killed, with its outcome; else None and the last outcome."""
    minifier = GraphMinifier(check, runner)
    last = Outcome(code=3, text="the graph can't be written as a script")
    for candidate in minifier.whole(recorded):
        last = minifier.outcome(candidate)
        if last.fails or last.code is None:
            return candidate, last
        if last.code == 0 and candidate.keep is None:
            break  # it works with its own inputs: other ways to write it would show nothing new
    return None, last
