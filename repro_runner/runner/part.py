"""One function of a repro under one backend, in this process: called, compiled, and what it does is recorded."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from registry.ids import linked_ids
from registry.model import SEEDS
from registry.program_text import ProgramText
from registry.snippets import CONSTANTS
from repro_runner.capture import CapturedBreak
from repro_runner.capture.from_text import logged_ids, logged_places, miscounted, unnamed
from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder
from repro_runner.judge.gradients import set_seed
from repro_runner.judge.hidden import calls_of, made_up
from repro_runner.judge.inputs import variations_of
from repro_runner.judge.observation import Call, Observation, Plan
from repro_runner.judge.reached import noted
from repro_runner.judge.recording import Calls
from repro_runner.judge.surroundings import Integrity
from repro_runner.runner.machine import ReproRun
from repro_runner.torch_seams import dynamo_config, dynamo_utils, guards, list_backends, reset
from repro_runner.values import map_tensors

_SECONDS = 2.0
"""For one call of a program with inputs that may not be meant for it."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_PYTHON_LIBRARY = re.compile(r"[^\s\"']*/lib/python3\.\d+/(?:site-packages/)?")
_LONG_ID = re.compile(r"(?<=id=)\d{6,}|\b\d{12,}\b")


def run_here(
    job: ReproRun, text: str, name: str, folder: Path, integrity: Integrity, work: Callable[[Part], Observation]
) -> Observation:
    """Load one function in this process, and let it work. It does not raise: errors are part of the answer."""
    try:
        # Modules and constants of a repro must be on the device, too. The device is set only while loading, because
        # it is a mode, and Dynamo traces differently under a mode.
        with torch.device(job.device) if job.device != "cpu" else contextlib.nullcontext():
            module = _load(job, text, folder)
    except BaseException as error:  # noqa: BLE001 - a repro may raise anything, SystemExit included
        return Observation(failure=normalise(f"importing it raised {type(error).__name__}: {error}", folder))
    if not callable(getattr(module, "inputs", None)):
        return Observation(failure="it has no function `inputs`")
    flags = getattr(module, "FLAGS", {}).get(name, {})
    if absent := _missing_settings(getattr(module, "CONFIG", {})) or _missing_settings(flags):
        return Observation(failure=absent, more={"not applicable": name == "broken"})
    try:
        # Fixes are compared by value. TF32, which cuDNN uses by default, would add differences.
        torch.backends.cudnn.allow_tf32 = False
        with dynamo_config.patch(**{**getattr(module, "CONFIG", {}), **flags}), _guards_not_timed():
            part = Part(job, module, getattr(module, name), folder)
            found = work(part)
        if part.calls.left_out:
            return Observation(failure="it holds too many values to compare them all, or some that can't be read")
    except Exception as error:  # noqa: BLE001 - inputs() and the constants are the repro's own, and may be wrong in any way
        return Observation(failure=normalise(f"{type(error).__name__}: {error}", folder))
    return replace(found, replaced=integrity.broken())


def no_fix(cause: str, breaks: int = 0) -> dict[str, Any]:
    """The record of a fix that was not compared."""
    return {"compiles": False, "breaks": breaks, "equal": False, "inputs": 0, "holds": False, "cause": cause}


def failed(cause: str) -> dict[str, Any]:
    """The record of a run that could not be completed."""
    return {"verdict": "failed", "cause": cause}


def _load(job: ReproRun, text: str, folder: Path) -> types.ModuleType:
    """Import a program from a file in the child's folder: it may delete that, and paths are the same everywhere."""
    path = folder / f"{job.program}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(job.program, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[job.program] = module  # Dynamo looks modules of traced functions up by name
    set_seed(job.load_seed)  # what a program and its fix draw while they are loaded is the same
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


class Part:
    """One function of a repro under one backend: it is called, or compiled, and what it does is recorded."""

    def __init__(self, job: ReproRun, module: types.ModuleType, function: Callable[..., Any], folder: Path) -> None:
        self.job, self.module, self.function, self.folder = job, module, function, folder
        self.text = ProgramText(job.source)
        self.calls = Calls(
            module,
            function,
            self._inputs,
            functions=frozenset({"inputs", function.__name__, *CONSTANTS}),
            device=job.device,
        )
        self.miscounted: list[str] = []
        """Lines that torch's log does not report as often as they are captured. Nothing may be in it."""

    def eager(self, plans: Sequence[Plan], *, traced: bool = False, limited: bool = False) -> Observation:
        """What the function does in eager. With `traced`, `more` has what ran of it, whether something was compiled all
        the same, and other inputs to try. With `limited`, a call with other inputs ends after a while."""
        self.calls.seconds = _SECONDS if limited else 0.0
        before = self.calls.state()
        if not traced:
            return Observation(before=before, calls=tuple(self.calls.make(self.function, plans)))
        positions: set[tuple[int, int, int, int]] = set()
        lines: set[int] = set()
        calls: list[Call] = []
        file = str(self.module.__file__)
        before_graphs = dynamo_utils.counters["stats"]["unique_graphs"]
        for plan in plans:
            new: set[tuple[int, int, int, int]] = set()
            with noted({file: new}, lines if plan.seed in SEEDS and not plan.variation else set()):
                calls += self.calls.make(self.function, [plan])
            # An input that was only searched for counts if it reaches something.
            searched = limited and plan.variation.startswith("other side")
            if not searched or (not calls[-1].failed and new - positions):
                positions |= new
            else:
                calls.pop()
        code = inspect.unwrap(self.function).__code__
        own = {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
        more = {
            "positions": sorted(positions),
            "missed": sorted(own - lines),
            "compiles": dynamo_utils.counters["stats"]["unique_graphs"] > before_graphs,
            "constants": self._constants(),
            "variations": list(variations_of(self._inputs(SEEDS[0]))),
        }
        return Observation(before=before, calls=tuple(calls), more=more)

    def uncompiled(self, plans: Sequence[Plan]) -> Observation:
        """The same, traced, without the compiler that `torch.cond` and the like use in eager, too."""
        with torch.compiler.set_stance("force_eager"):
            return self.eager([plan for plan in plans if not plan.gradients], traced=True, limited=True)

    def broken_compiled(self) -> Observation:
        """The breaks of the program, and what it gives when it is compiled."""
        plan = [Plan(seed=SEEDS[0])]
        before = self.calls.state()
        targets: list[Any] = []
        with logged_ids() as found:
            breaks, counts, calls = self._run_compiled(plan, fullgraph=False)
            strict, _, strict_calls = self._run_compiled(plan, fullgraph=True)
        found.update(linked_ids(f"{calls[0].error[1]} {strict_calls[0].error[1]}"))
        missed = unnamed(found, {one.gb_id for one in (*breaks, *strict)})
        if missed:
            return Observation(failure=missed)
        self._run_compiled(plan, fullgraph=False, backend=partial(_look, targets))
        more = {
            "record": self._record(breaks, strict, counts["graphs"]),
            "seen": sorted({one.gb_id for one in (*breaks, *strict) if one.happened}),
            "made up": made_up(targets),
            "miscounted": self.miscounted,
        }
        return Observation(before=before, calls=tuple(map(self._without_place, calls)), more=more)

    def compiled(self, plans: Sequence[Plan], *, again: int = 0) -> Observation:
        """What the function does when it is compiled whole.

        It is also compiled with breaks allowed: fullgraph=True captures `.item()`, which hides a break. With `again`,
        it is called so often with the first inputs once more, and the new graphs are counted.
        """
        before = self.calls.state()
        whole, counts, calls = self._run_compiled(plans, fullgraph=True, again=again)
        targets: list[Any] = []
        allowed, _, _ = self._run_compiled(plans[:1], fullgraph=False, backend=partial(_look, targets))
        happened = [one for one in (*whole, *allowed) if one.happened]
        more = {"breaks": len(happened), **counts, "made up": made_up(targets), "miscounted": self.miscounted}
        return Observation(before=before, calls=tuple(map(self._without_place, calls)), more=more)

    def isolated(self, plans: Sequence[Plan]) -> Observation:
        """What an escape hatch does when it is compiled."""
        before = self.calls.state()
        breaks, counts, calls = self._run_compiled(plans, fullgraph=False)
        more = {"breaks": sum(one.count for one in breaks if one.happened), "graphs": counts["graphs"]}
        return Observation(before=before, calls=tuple(calls), more={**more, "miscounted": self.miscounted})

    def _constants(self) -> dict[str, Any]:
        """What the file says of itself."""
        names = ("GRADIENT", "EFFECTS", "OPAQUE", "LIMITS", "COVERAGE", "EAGER_RAISES")
        return {name: getattr(self.module, name) for name in names if hasattr(self.module, name)}

    def _inputs(self, seed: int) -> tuple[Any, ...]:
        set_seed(seed)
        given = self.module.inputs()
        given = given if isinstance(given, tuple) else (given,)
        moved: tuple[Any, ...] = map_tensors(given, lambda one, _: _to_device(one, self.job.device), "inputs")
        return moved

    def _without_place(self, call: Call) -> Call:
        """With an error as a record may have it."""
        return replace(call, error=(call.error[0], self._recorded(call.error[1])))

    def _run_compiled(
        self,
        plans: Sequence[Plan],
        *,
        fullgraph: bool,
        backend: Callable[..., Any] | None = None,
        again: int = 0,
    ) -> tuple[list[CapturedBreak], dict[str, int], list[Call]]:
        """Compile once and make the calls. Returns (breaks, graphs and operations, calls).

        Counted is what plain inputs of SEEDS compile: others are drawn, and a record has to be the same in every run.
        """
        reset()
        dynamo_utils.counters.clear()
        recorder = Recorder(Identifier(self.job.other_types))
        stats = dynamo_utils.counters["stats"]
        plain = [plan for plan in plans if plan.seed in SEEDS and not plan.variation and not plan.gradients]
        with logged_places() as logged, contextlib.ExitStack() as undo:
            recorder.install(undo)
            compiled = self._compiled(fullgraph=fullgraph, backend=backend)
            calls = list(self.calls.make(compiled, plain))
            counts = {"graphs": stats["unique_graphs"], "ops": stats["calls_captured"]}
            breaks = recorder.captured(errors=False)
            for _, alike in groupby((plan for plan in plans if plan not in plain), key=_tensors_of):
                reset()  # other tensors are compiled anew, and not counted among the times that a user's would be
                calls += self.calls.make(compiled, list(alike))
            if again and plain:
                counts["graphs of equal calls"] = self._graphs_of_equal_calls(compiled, plain[0], again)
        if logged.complete:
            unlike = miscounted(logged.reports, recorder.reports(logged.reports))
            self.miscounted += [f"{self.function.__name__}: {self._recorded(one)}" for one in unlike]
        return breaks, counts, sorted(calls, key=lambda call: plans.index(call.plan))

    def _graphs_of_equal_calls(self, compiled: Callable[..., Any], plan: Plan, number: int) -> int:
        """How many graphs are compiled after the first of so many calls with equal inputs, which should be none."""
        reset()
        stats = dynamo_utils.counters["stats"]
        list(self.calls.make(compiled, [plan]))
        before = stats["unique_graphs"]
        failed = any(call.failed for call in self.calls.make(compiled, [plan] * number))
        return int(stats["unique_graphs"] - before + number * failed)

    def _compiled(self, *, fullgraph: bool, backend: str | Callable[..., Any] | None = None) -> Callable[..., Any]:
        """As a user compiles it: with torch's own backend, and nothing around it, which Dynamo would see."""
        if backend is None:
            backend = self.job.backend if self.job.backend in list_backends(()) else _other_backend(self.job.backend)
        options = {**getattr(self.module, "COMPILE", {}), "fullgraph": fullgraph, "backend": backend}
        compiled: Callable[..., Any] = torch.compile(self.function, **options)
        return compiled

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
            record["message"] = self._recorded(shown.message)
            record["context"] = self._recorded(shown.context)
            record["hints"] = [self._recorded(hint) for hint in shown.hints]
            record["explanation"] = self._recorded(shown.explanation)
            place = self.text.place(shown.stack[-1].line) if shown.stack else None
            record["function"], record["line"] = place or ("", None)
        return record

    def _recorded(self, text: str) -> str:
        """A text of torch for the record: lines of the program are counted from where their function begins."""

        def relative(found: re.Match[str]) -> str:
            place = self.text.place(int(found[2]))
            return f"{found[1]}{place[1] if place else found[2]}"

        named = rf'(\b{self.job.program}\.py(?:", line |:))(\d+)'
        return re.sub(named, relative, normalise(text, self.folder))


def _other_backend(name: str) -> Callable[..., Any]:
    """Imported only here: a torch that lost a private name which it needs still runs the others."""
    from repro_runner.graphs.by_name import find_backend

    return find_backend(name)


def _look(targets: list[Any], graph: torch.fx.GraphModule, _inputs: object, **_options: object) -> Callable[..., Any]:
    """A backend that runs the graph as it is, and adds what it calls to `targets`."""
    targets.extend(calls_of(graph))
    forward: Callable[..., Any] = graph.forward
    return forward


def _tensors_of(plan: Plan) -> str:
    """What the tensors of a call are like: those of calls for which this is the same have the same metadata."""
    return plan.gradients or (
        plan.variation if plan.variation.startswith(("size", "strided", "dtype", "number")) else ""
    )


def _missing_settings(settings: Mapping[str, Any]) -> str:
    """A text with the settings that this torch does not have; empty when it has all."""
    absent = [name for name in settings if not hasattr(dynamo_config, name)]
    return f"this torch has no setting {', '.join(absent)}" if absent else ""


def _to_device(value: torch.Tensor | torch.nn.Module, device: str) -> torch.Tensor | torch.nn.Module:
    if isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad and value.device.type != device:
        return value.detach().to(device).requires_grad_()  # a moved leaf has to stay one, or it gets no gradient
    return value.to(device)


def normalise(text: str, folder: Path) -> str:
    """Make messages of two machines the same: remove the repro's folder, paths of installed packages and addresses."""
    for spelling in {str(folder), str(folder.resolve())}:
        text = text.replace(f"{spelling}/", "").replace(spelling, ".")
    text = _PYTHON_LIBRARY.sub("", text).replace(f"{sys.base_prefix}/", "")
    return _LONG_ID.sub("...", _ADDRESS.sub("0x...", text)).strip()
