"""The code that runs in a child: run one repro under one backend, and return the record of what happened.

What is run is what a page shows: the card of each function, in a module and a process of its own. So a fix runs where
`broken` never ran, and knows only what its readers know.
"""

from __future__ import annotations

import contextlib
import importlib.util
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from registry.ids import linked_ids
from registry.snippets import runnable_parts
from repro_runner.backends.by_name import find_backend
from repro_runner.capture import CapturedBreak
from repro_runner.capture.from_text import logged_ids, logged_places, miscounted, unnamed
from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder
from repro_runner.process import in_fork
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.requires import requirements, unmet
from repro_runner.torch_seams import dynamo_config, guards, reset
from repro_runner.values import Outcome, difference, dump_outcomes, keep

SEEDS = (0, 1, 2)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_PYTHON_LIBRARY = re.compile(r"[^\s\"']*/lib/python3\.\d+/(?:site-packages/)?")
_LONG_ID = re.compile(r"(?<=id=)\d{6,}|\b\d{12,}\b")
SAMPLE = """
import torch

layer = torch.nn.Linear(4, 4)


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    y = torch.nn.functional.relu(layer(x))
    torch._dynamo.graph_break()
    return torch.einsum("ij->i", y)


def fixed(x):
    return torch.einsum("ij->i", torch.nn.functional.relu(layer(x)))
"""
"""A program that uses the common parts of Dynamo, including a break and its message."""


def warm_up(device: str) -> None:
    """Verify a sample in the process that is forked, so that the children do not repeat its imports and lookups.

    On a machine with a GPU it only imports torch: compiling uses the driver, even of a hidden GPU, and a child that is
    forked after that aborts in autograd or can't use the GPU.
    """
    torch.set_num_threads(1)
    if device == "cpu" and not Path("/dev/nvidiactl").exists():
        job, parts = ReproRun(gb_id="GB0025", source=SAMPLE), runnable_parts(SAMPLE)
        with tempfile.TemporaryDirectory(prefix="graphbreak-warm-") as folder:
            program = _run_here(job, parts["broken"], "broken", Path(folder), b"")
            _run_here(job, parts["fixed"], "fixed", Path(folder), program["expected"])
        del sys.modules["GB0025"]
        importlib.import_module("torch._inductor.compile_fx")  # two seconds, which every child would spend otherwise
        reset()


def run_repro(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The task of a child. `arguments` are the fields of a ReproRun."""
    return execute(ReproRun(**arguments), folder)


def execute(job: ReproRun, folder: Path) -> dict[str, Any]:
    """Run a repro in `folder` and return its record. It does not raise: errors are part of the record."""
    try:
        reason = unmet(requirements(job.source), torch.__version__, job.device)
    except ValueError as error:
        return failed(str(error))
    if reason:
        return {"verdict": "not applicable", "cause": reason}
    try:
        parts = runnable_parts(job.source)
    except SyntaxError as error:
        return failed(f"importing it raised SyntaxError: {error}")
    if "broken" not in parts:
        return failed("it has no function `broken`")
    program = _run_part(job, parts["broken"], "broken", folder)
    if "verdict" in program:
        return program
    checked = {
        name: _run_part(job, text, name, folder, program["expected"])
        for name, text in sorted(parts.items())
        if name != "broken"
    }
    return _assemble(job, program, checked)


def _run_part(job: ReproRun, text: str, name: str, folder: Path, expected: bytes = b"") -> dict[str, Any]:
    """Run one function in a fork, and return what is known of it then. `expected` is what `broken` gave in eager."""
    found: dict[str, Any] = pickle.loads(in_fork(lambda: pickle.dumps(_run_here(job, text, name, folder, expected))))
    return found


def _run_here(job: ReproRun, text: str, name: str, folder: Path, expected: bytes) -> dict[str, Any]:
    """Run one function in this process. It does not raise: errors are part of the answer."""
    is_broken = name == "broken"
    try:
        # Modules and constants of a repro must be on the device, too. The device is set only while loading, because
        # it is a mode, and Dynamo traces differently under a mode.
        with torch.device(job.device) if job.device != "cpu" else contextlib.nullcontext():
            module = _load(job, text, folder)
    except BaseException as error:  # noqa: BLE001 - a repro may raise anything, SystemExit included
        cause = normalise(f"importing it raised {type(error).__name__}: {error}", folder)
        return failed(cause) if is_broken else {"record": _no_fix(cause)}
    if not callable(getattr(module, "inputs", None)):
        return failed("it has no function `inputs`")
    if absent := _missing_settings(getattr(module, "CONFIG", {})):
        return {"verdict": "not applicable", "cause": absent}
    try:
        # Fixes are compared by value. TF32, which cuDNN uses by default, would add differences.
        torch.backends.cudnn.allow_tf32 = False
        with dynamo_config.patch(**getattr(module, "CONFIG", {})), _guards_not_timed():
            part = _Part(job, module, getattr(module, name), folder)
            answer = part.run_broken() if is_broken else {"record": part.check(name, pickle.loads(expected))}
            return {**answer, "miscounted": part.miscounted}
    except Exception as error:  # noqa: BLE001 - inputs() and the constants are the repro's own, and may be wrong in any way
        cause = normalise(f"{type(error).__name__}: {error}", folder)
        return failed(cause) if is_broken else {"record": _no_fix(cause)}


def _no_fix(cause: str, breaks: int = 0) -> dict[str, Any]:
    """The record of a fix that was not compared."""
    return {"compiles": False, "breaks": breaks, "equal": False, "inputs": 0, "cause": cause}


def _assemble(job: ReproRun, program: dict[str, Any], checked: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The record of a repro, of what is known of its functions."""
    record = program["record"]
    for kind, start in (("fixes", "fixed"), ("isolated", "isolated")):
        record[kind] = {name: found["record"] for name, found in checked.items() if name.startswith(start)}
    if miscounted := [one for found in (program, *checked.values()) for one in found.get("miscounted", ())]:
        record["miscounted"] = miscounted
    if job.gb_id in program["seen"]:
        holds = any(fix["compiles"] and not fix["breaks"] and fix["equal"] for fix in record["fixes"].values())
        record["verdict"] = "verified" if holds and not program["eager_raises"] else "reproduced"
    elif not program["seen"] and program["raised"]:
        # Nothing broke because compiling failed with another error. That does not mean that the break is gone.
        return failed(f"compiled, it raised {program['raised']}")
    else:
        record["verdict"] = "other id" if program["seen"] else "stopped"
    return dict(record)


def failed(cause: str) -> dict[str, Any]:
    """The record of a run that could not be completed."""
    return {"verdict": "failed", "cause": cause}


def _load(job: ReproRun, text: str, folder: Path) -> ModuleType:
    """Import a program from a file in the child's folder: it may delete that, and paths are the same everywhere."""
    path = folder / f"{job.gb_id}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(job.gb_id, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[job.gb_id] = module  # Dynamo looks modules of traced functions up by name
    torch.manual_seed(0)  # what a program and its fix draw while they are loaded is the same
    sys.dont_write_bytecode = True  # the next program has the same name, and may have the same size and second
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _guards_not_timed() -> Iterator[None]:
    """Stop Dynamo from timing the guards of every graph for its statistics: that flushes a cache and takes 18 ms."""
    before = getattr(guards, "profile_guard_manager", None)
    if before is None:
        yield
        return
    guards.profile_guard_manager = lambda *_: 0.0
    try:
        yield
    finally:
        guards.profile_guard_manager = before


class _Part:
    """One function of a repro under one backend: `broken` to find its breaks, any other to compare it with that."""

    def __init__(self, job: ReproRun, module: ModuleType, function: Callable[..., Any], folder: Path) -> None:
        self.job, self.module, self.function, self.folder = job, module, function, folder
        self.graphs = 0
        self.miscounted: list[str] = []
        """Lines that torch's log does not report as often as they are captured. Nothing may be in it."""

    def run_broken(self) -> dict[str, Any]:
        """What is known of the program: its record without fixes, and what it gave in eager."""
        expected = []
        lines: set[int] = set()
        for seed in SEEDS:
            with _traced(self.function, lines):
                expected.append(self._call(self.function, seed))
        problem = self._why_unfit(self.function, expected, lines)
        if problem:
            return failed(normalise(problem, self.folder))
        with logged_ids() as found:
            breaks, graphs, (outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=False)
            strict, _, (strict_outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=True)
        found.update(linked_ids(f"{outcome.error} {strict_outcome.error}"))
        missed = unnamed(found, {one.gb_id for one in (*breaks, *strict)})
        if missed:
            return failed(missed)
        failure = outcome.error if expected[0].error is None else None
        return {
            "record": {**self._record(breaks, strict, graphs), "equal": not difference(expected[0], outcome)},
            "seen": {one.gb_id for one in (*breaks, *strict) if one.happened},
            "raised": normalise(f"{type(failure).__name__}: {failure}", self.folder) if failure else "",
            "eager_raises": bool(getattr(self.module, "EAGER_RAISES", False)),
            "expected": dump_outcomes(expected, self.job.gb_id),
        }

    def check(self, name: str, expected: list[Outcome]) -> dict[str, Any]:
        """The record of a fix, or of a function that isolates the break."""
        return self._check_isolated(expected) if name.startswith("isolated") else self._check_fix(name, expected)

    def _why_unfit(self, broken: Callable[..., Any], expected: list[Outcome], lines: set[int]) -> str:
        """Why the repro can't prove anything; empty if it can. `lines` are the lines of `broken` that ran."""
        errors = [outcome.error for outcome in expected if outcome.error is not None]
        if errors and not getattr(self.module, "EAGER_RAISES", False):
            return f"eager raised {type(errors[0]).__name__}: {errors[0]}"
        if not errors and getattr(self.module, "EAGER_RAISES", False):
            return "EAGER_RAISES is set, but eager did not raise"
        if getattr(self.module, "COVERAGE", ""):
            return ""
        if _same(*(self._inputs(seed) for seed in SEEDS)):
            return "inputs() gives the same inputs under every seed; draw them, or say why not in COVERAGE"
        missed = sorted(_lines_of(broken) - lines) if not errors else []
        if missed:
            return (
                f"lines {missed} of broken were not run by the inputs of seeds {SEEDS}; say why in COVERAGE, or mend it"
            )
        return ""

    def _inputs(self, seed: int) -> tuple[Any, ...]:
        torch.manual_seed(seed)
        given = self.module.inputs()
        return tuple(_to_device(one, self.job.device) for one in (given if isinstance(given, tuple) else (given,)))

    def _call(self, function: Callable[..., Any], seed: int) -> Outcome:
        """Call a function with new inputs and a seeded random generator. Copies of result and inputs are returned."""
        given = self._inputs(seed)
        torch.manual_seed(1000 + seed)
        try:
            value = function(*given)
            if self.job.device == "cuda":
                torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001 - whatever a program raises is its outcome
            return Outcome(value=None, inputs=None, error=error)
        return Outcome(value=keep(value), inputs=keep(given))

    def _run_compiled(
        self, function: Callable[..., Any], seeds: Sequence[int], *, fullgraph: bool
    ) -> tuple[list[CapturedBreak], int, list[Outcome]]:
        """Compile once and call with the inputs of each seed. Returns (breaks, number of graphs, outcomes)."""
        reset()
        self.graphs = 0
        options = {**getattr(self.module, "COMPILE", {}), "fullgraph": fullgraph, "backend": self._counting_backend()}
        recorder = Recorder(Identifier(self.job.other_types))
        with logged_places() as logged, contextlib.ExitStack() as undo:
            recorder.install(undo)
            compiled = torch.compile(function, **options)
            outcomes = [self._call(compiled, seed) for seed in seeds]
        if logged.complete:
            unlike = miscounted(logged.reports, recorder.reports(logged.reports))
            self.miscounted += [f"{function.__name__}: {normalise(one, self.folder)}" for one in unlike]
        return recorder.captured(errors=False), self.graphs, outcomes

    def _counting_backend(self) -> Callable[..., Any]:
        compiler = find_backend(self.job.backend)

        def backend(graph: Any, inputs: Any, **options: Any) -> Any:
            self.graphs += 1
            return compiler(graph, inputs, **options)

        return backend

    def _record(self, breaks: list[CapturedBreak], strict: list[CapturedBreak], graphs: int) -> dict[str, Any]:
        happened = [one for one in breaks if one.happened]
        own = [one for one in (*happened, *strict) if one.gb_id == self.job.gb_id]
        shown = next(iter(own or happened), None)
        record: dict[str, Any] = {
            "ids": sorted({one.gb_id for one in happened}),
            "ids_fullgraph": sorted({one.gb_id for one in strict if one.happened}),
            "graphs": graphs,
        }
        if shown is not None:
            record["kind"] = shown.kind
            record["message"] = normalise(shown.message, self.folder)
            record["context"] = normalise(shown.context, self.folder)
            record["hints"] = [normalise(hint, self.folder) for hint in shown.hints]
            record["explanation"] = normalise(shown.explanation, self.folder)
            record["line"] = shown.stack[-1].line if shown.stack else None
        return record

    def _check_fix(self, name: str, expected: list[Outcome]) -> dict[str, Any]:
        """The record of a fix, run with the settings that FLAGS has for it."""
        flags = getattr(self.module, "FLAGS", {}).get(name, {})
        if absent := _missing_settings(flags):
            return _no_fix(absent)
        with dynamo_config.patch(**flags):
            return self._compare_with_eager(expected)

    def _compare_with_eager(self, expected: list[Outcome]) -> dict[str, Any]:
        """Compile a fix as one graph, and compare it on every seed with eager `broken`, or eager `fix` if that raises.

        It is also compiled with breaks allowed: fullgraph=True captures `.item()`, which hides a break.
        """
        if getattr(self.module, "EAGER_RAISES", False):
            expected = [self._call(self.function, seed) for seed in SEEDS]
        whole, _, outcomes = self._run_compiled(self.function, SEEDS, fullgraph=True)
        allowed, _, with_breaks = self._run_compiled(self.function, SEEDS[:1], fullgraph=False)
        happened = [one for one in (*whole, *allowed) if one.happened]
        found = ""
        for wanted, outcome in zip((*expected, expected[0]), (*outcomes, *with_breaks), strict=True):
            if outcome.error is not None:
                message = normalise(f"{type(outcome.error).__name__}: {outcome.error}", self.folder)
                return _no_fix(message, len(happened))
            found = found or difference(wanted, outcome)
        record: dict[str, Any] = {"compiles": True, "breaks": len(happened), "equal": not found, "inputs": len(SEEDS)}
        return {**record, "cause": found} if found else record

    def _check_isolated(self, expected: list[Outcome]) -> dict[str, Any]:
        breaks, graphs, (outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=False)
        found = difference(expected[0], outcome)
        record = {"breaks": sum(one.count for one in breaks if one.happened), "graphs": graphs, "equal": not found}
        return {**record, "cause": found} if found else record


def _missing_settings(settings: Mapping[str, Any]) -> str:
    """A text with the settings that this torch does not have; empty when it has all."""
    absent = [name for name in settings if not hasattr(dynamo_config, name)]
    return f"this torch has no setting {', '.join(absent)}" if absent else ""


def _to_device(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad and value.device.type != device:
        return value.detach().to(device).requires_grad_()  # a moved leaf has to stay one, or it gets no gradient
    if isinstance(value, torch.Tensor | torch.nn.Module):
        return value.to(device)
    if isinstance(value, dict):
        for key, item in value.items():
            value[key] = _to_device(item, device)  # in place, which keeps a subclass of dict
        return value
    if type(value) in (list, tuple):
        return type(value)(_to_device(item, device) for item in value)
    return value


def normalise(text: str, folder: Path) -> str:
    """Make messages of two machines the same: remove the repro's folder, paths of installed packages and addresses."""
    for spelling in {str(folder), str(folder.resolve())}:
        text = text.replace(f"{spelling}/", "").replace(spelling, ".")
    text = _PYTHON_LIBRARY.sub("", text).replace(f"{sys.base_prefix}/", "")
    return _LONG_ID.sub("...", _ADDRESS.sub("0x...", text)).strip()


def _same(*inputs: Any) -> bool:
    first, *others = (Outcome(value=keep(given), inputs=None) for given in inputs)
    return all(not difference(first, other) for other in others)


@contextlib.contextmanager
def _traced(function: Callable[..., Any], lines: set[int]) -> Iterator[None]:
    """Add the numbers of the lines of `function` that run inside the block to `lines`."""
    code = function.__code__

    def trace(frame: Any, event: str, _argument: object) -> Any:
        if frame.f_code is code:
            if event == "line":
                lines.add(frame.f_lineno)
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _lines_of(function: Callable[..., Any]) -> set[int]:
    code = function.__code__
    return {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
