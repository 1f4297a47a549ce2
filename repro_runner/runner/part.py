"""One function of a repro under one backend, in this process: run, or compared with what `broken` gives in eager."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from registry.ids import linked_ids
from registry.model import SEEDS
from registry.program_text import ProgramText
from repro_runner.capture import CapturedBreak
from repro_runner.capture.from_text import logged_ids, logged_places, miscounted, unnamed
from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder
from repro_runner.runner.gradients import (
    EAGER_RAISES,
    NO_INPUT,
    Gradients,
    NoInput,
    gradients_differ,
    gradients_of,
    set_seed,
)
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.printed import not_printed, printed
from repro_runner.torch_seams import dynamo_config, dynamo_utils, guards, list_backends, reset
from repro_runner.values import (
    Outcome,
    difference,
    dump_outcomes,
    effects_differ,
    keep,
    map_tensors,
    module_state,
    shared_memory,
    values_differ,
)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_PYTHON_LIBRARY = re.compile(r"[^\s\"']*/lib/python3\.\d+/(?:site-packages/)?")
_LONG_ID = re.compile(r"(?<=id=)\d{6,}|\b\d{12,}\b")
_AFTER_FORK = "Autograd-and-Fork"
"""In what torch raises in a child if the process that was forked had run a backward."""
_TORCH_OPERATORS = {"aten", "prim", "prims", "higher_order", "quantized", "profiler", "inductor"}


def run_here(
    job: ReproRun, text: str, name: str, folder: Path, seeds: Sequence[int], work: Callable[[Part], dict[str, Any]]
) -> dict[str, Any]:
    """Load one function in this process, and let it work. It does not raise: errors are part of the answer."""
    try:
        # Modules and constants of a repro must be on the device, too. The device is set only while loading, because
        # it is a mode, and Dynamo traces differently under a mode.
        with torch.device(job.device) if job.device != "cpu" else contextlib.nullcontext():
            module = _load(job, text, folder)
    except BaseException as error:  # noqa: BLE001 - a repro may raise anything, SystemExit included
        return failed(normalise(f"importing it raised {type(error).__name__}: {error}", folder))
    if not callable(getattr(module, "inputs", None)):
        return failed("it has no function `inputs`")
    if absent := _missing_settings(getattr(module, "CONFIG", {})):
        return {"verdict": "not applicable", "cause": absent}
    try:
        # Fixes are compared by value. TF32, which cuDNN uses by default, would add differences.
        torch.backends.cudnn.allow_tf32 = False
        with dynamo_config.patch(**getattr(module, "CONFIG", {})), _guards_not_timed():
            return work(Part(job, module, getattr(module, name), folder, seeds))
    except Exception as error:  # noqa: BLE001 - inputs() and the constants are the repro's own, and may be wrong in any way
        return failed(normalise(f"{type(error).__name__}: {error}", folder))


def no_fix(cause: str, breaks: int = 0) -> dict[str, Any]:
    """The record of a fix that was not compared."""
    return {"compiles": False, "breaks": breaks, "equal": False, "inputs": 0, "holds": False, "cause": cause}


def failed(cause: str) -> dict[str, Any]:
    """The record of a run that could not be completed."""
    return {"verdict": "failed", "cause": cause}


def _load(job: ReproRun, text: str, folder: Path) -> ModuleType:
    """Import a program from a file in the child's folder: it may delete that, and paths are the same everywhere."""
    path = folder / f"{job.program}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(job.program, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[job.program] = module  # Dynamo looks modules of traced functions up by name
    set_seed(0)  # what a program and its fix draw while they are loaded is the same
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
    """One function of a repro under one backend: `broken` to find its breaks, any other to compare it with that."""

    def __init__(
        self, job: ReproRun, module: ModuleType, function: Callable[..., Any], folder: Path, seeds: Sequence[int]
    ) -> None:
        self.job, self.module, self.function, self.folder, self.seeds = job, module, function, folder, seeds
        self.loaded = module_state(module)
        self.text = ProgramText(job.source)
        self.miscounted: list[str] = []
        """Lines that torch's log does not report as often as they are captured. Nothing may be in it."""

    def run(self, name: str, expected: bytes) -> dict[str, Any]:
        """What is known of the function."""
        if name == "broken":
            answer = self._run_broken()
        elif name.startswith("isolated"):
            answer = {"record": self._check_isolated(pickle.loads(expected))}
        else:
            excuse = getattr(self.module, "GRADIENT", {}).get(name, "")
            answer = {"record": self._check_fix(name, pickle.loads(expected)), "excuse": excuse}
        return {**answer, "miscounted": self.miscounted}

    def _run_broken(self) -> dict[str, Any]:
        """What is known of the program: its record without fixes, and what it gave in eager."""
        expected = []
        lines: set[int] = set()
        for seed in self.seeds:
            with _traced(self.function, lines if seed in SEEDS else set()):
                expected.append(self._call(self.function, seed))
        problem = self._why_unfit(self.function, expected, lines)
        if problem:
            return failed(self._recorded(problem))
        with logged_ids() as found:
            breaks, counts, (outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=False)
            strict, _, (strict_outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=True)
        found.update(linked_ids(f"{outcome.error} {strict_outcome.error}"))
        missed = unnamed(found, {one.gb_id for one in (*breaks, *strict)})
        if missed:
            return failed(missed)
        failure = outcome.error if expected[0].error is None else None
        return {
            "record": {**self._record(breaks, strict, counts["graphs"]), "equal": not difference(expected[0], outcome)},
            "seen": {one.gb_id for one in (*breaks, *strict) if one.happened},
            "raised": self._recorded(f"{type(failure).__name__}: {failure}") if failure else "",
            "eager_raises": bool(getattr(self.module, "EAGER_RAISES", False)),
            "expected": dump_outcomes(expected, self.job.program),
        }

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
                f"lines {missed} of broken were not run by the inputs of seeds {SEEDS}; say why in COVERAGE, or fix it"
            )
        if not errors and self._says_nothing(expected):
            return "the result is the same under every seed; let it depend on the inputs, or say why not in COVERAGE"
        return ""

    def _says_nothing(self, expected: list[Outcome]) -> bool:
        """Whether the program gives the same for all inputs, and leaves them as they are."""
        return _same(*(one.value for one in expected)) and not any(
            one.changed or values_differ(keep(self._inputs(seed)), one.inputs, "")
            for one, seed in zip(expected, self.seeds, strict=True)
        )

    def _inputs(self, seed: int) -> tuple[Any, ...]:
        set_seed(seed)
        given = self.module.inputs()
        given = given if isinstance(given, tuple) else (given,)
        moved: tuple[Any, ...] = map_tensors(given, lambda one, _: _to_device(one, self.job.device), "inputs")
        return moved

    def _call(self, function: Callable[..., Any], seed: int) -> Outcome:
        """Call a function with new inputs and a seeded random generator. Copies of result and inputs are returned."""
        given = self._inputs(seed)
        set_seed(1000 + seed)
        written: list[str] = []
        try:
            with contextlib.ExitStack() as caught:
                if self.job.answer:
                    written = caught.enter_context(printed())
                value = function(*given)
                if self.job.device == "cuda":
                    torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001 - whatever a program raises is its outcome
            return Outcome(value=None, inputs=None, error=error)
        state = module_state(self.module)
        changed = {
            name: now
            for name, now in state.items()
            if name not in self.loaded or values_differ(self.loaded[name], now, name)
        }
        return Outcome(
            value=keep(value),
            inputs=keep(given),
            aliases=shared_memory(value, given),
            changed=changed,
            unchanged=frozenset(state.keys() - changed.keys()),
            printed="".join(written),
        )

    def _run_compiled(
        self,
        function: Callable[..., Any],
        seeds: Sequence[int],
        *,
        fullgraph: bool,
        backend: Callable[..., Any] | None = None,
    ) -> tuple[list[CapturedBreak], dict[str, int], list[Outcome]]:
        """Compile once and call with the inputs of each seed. Returns (breaks, graphs and operations, outcomes).

        Counted is what SEEDS compile: shapes may be drawn, too, and a record has to be the same in every run.
        """
        reset()
        dynamo_utils.counters.clear()
        recorder = Recorder(Identifier(self.job.other_types))
        with logged_places() as logged, contextlib.ExitStack() as undo:
            recorder.install(undo)
            compiled = self._compiled(function, fullgraph=fullgraph, backend=backend)
            outcomes = [self._call(compiled, seed) for seed in seeds if seed in SEEDS]
            stats = dynamo_utils.counters["stats"]
            counts = {"graphs": stats["unique_graphs"], "ops": stats["calls_captured"]}
            outcomes += [self._call(compiled, seed) for seed in seeds if seed not in SEEDS]
        if logged.complete:
            unlike = miscounted(logged.reports, recorder.reports(logged.reports))
            self.miscounted += [f"{function.__name__}: {self._recorded(one)}" for one in unlike]
        return recorder.captured(errors=False), counts, outcomes

    def _compiled(
        self, function: Callable[..., Any], *, fullgraph: bool, backend: str | Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """As a user compiles it: with torch's own backend, and nothing around it, which Dynamo would see."""
        if backend is None:
            backend = self.job.backend if self.job.backend in list_backends(()) else _other_backend(self.job.backend)
        options = {**getattr(self.module, "COMPILE", {}), "fullgraph": fullgraph, "backend": backend}
        compiled: Callable[..., Any] = torch.compile(function, **options)
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

    def _check_fix(self, name: str, expected: list[Outcome]) -> dict[str, Any]:
        """The record of a fix, run with the settings that FLAGS has for it."""
        flags = getattr(self.module, "FLAGS", {}).get(name, {})
        if absent := _missing_settings(flags):
            return no_fix(absent)
        with dynamo_config.patch(**flags):
            return self._compare_with_eager(name, expected)

    def _compare_with_eager(self, name: str, expected: list[Outcome]) -> dict[str, Any]:
        """Compile a fix as one graph, and compare it on every seed with eager `broken`, or eager `fix` if that raises.

        It is also compiled with breaks allowed: fullgraph=True captures `.item()`, which hides a break.
        """
        if getattr(self.module, "EAGER_RAISES", False):
            # It is called more than once, so what it changes beside its inputs is not compared.
            expected = [
                replace(self._call(self.function, seed), changed={}, unchanged=frozenset()) for seed in self.seeds
            ]
        whole, counts, outcomes = self._run_compiled(self.function, self.seeds, fullgraph=True)
        targets: list[Any] = []
        look = partial(_look, targets) if self.job.backend == "eager" else None  # it runs the graph as eager does
        allowed, _, with_breaks = self._run_compiled(self.function, SEEDS[:1], fullgraph=False, backend=look)
        happened = [one for one in (*whole, *allowed) if one.happened]
        for outcome in (*outcomes, *with_breaks):
            if outcome.error is not None:
                return no_fix(self._recorded(f"{type(outcome.error).__name__}: {outcome.error}"), len(happened))
        unlike = self._first_difference(name, expected, outcomes) or difference(expected[0], with_breaks[0])
        record: dict[str, Any] = {
            "compiles": True,
            "breaks": len(happened),
            "equal": not unlike,
            "inputs": len(self.seeds),
            **counts,
        }
        if not getattr(self.module, "OPAQUE", {}).get(name):
            if look is None:
                self._run_compiled(self.function, SEEDS[:1], fullgraph=False, backend=partial(_look, targets))
            if targets and all(map(_is_made_up, targets)):
                record["opaque"] = True
        pairs = zip(expected, outcomes, strict=True)
        if dropped := next(filter(None, (not_printed(one.printed, other.printed) for one, other in pairs)), ""):
            record["drops"] = dropped
        cause = unlike or _why_no_fix(record)
        return {**record, "holds": not cause, **({"cause": cause} if cause else {})}

    def _first_difference(self, name: str, expected: list[Outcome], outcomes: list[Outcome]) -> str:
        """Describe how a fix differs from `broken`, with the seed if it was drawn for this run."""
        has_reason = bool(getattr(self.module, "EFFECTS", {}).get(name))
        for seed, wanted, outcome in zip(self.seeds, expected, outcomes, strict=True):
            if found := difference(wanted, outcome) or ("" if has_reason else effects_differ(wanted, outcome)):
                return found if seed in SEEDS else f"with inputs of seed {seed}: {found}"
        return ""

    def eager_gradients(self) -> dict[str, Any]:
        """What flows back through the program in eager, or why nothing does."""
        answer: dict[str, Any] = {"reason": EAGER_RAISES}
        for leaf in (False, True):
            try:
                found = [self._flow(self.function, seed, leaf=leaf) for seed in self.seeds]
                # As bytes: a process that holds tensors of a GPU can't be forked any more.
                answer = {"gradients": pickle.dumps(found), "leaf": leaf}
                if _flows(found):
                    break
            except NoInput:
                return {"reason": NO_INPUT}
            except Exception as error:  # whatever a program raises; it may work with leaves
                if _AFTER_FORK in str(error):
                    raise  # it is not the program that fails
        return answer

    def compare_gradients(self, name: str, eager: dict[str, Any]) -> dict[str, Any]:
        """How what flows back through a fix differs from what flows back through `broken` in eager."""
        reset()
        with dynamo_config.patch(**getattr(self.module, "FLAGS", {}).get(name, {})):
            compiled = self._compiled(self.function, fullgraph=True)
            gradients = pickle.loads(eager["gradients"])
            found, flows = "", _flows(gradients)
            for seed, expected in zip(self.seeds, gradients, strict=True):
                try:
                    actual = self._flow(compiled, seed, leaf=eager["leaf"])
                except Exception as error:  # noqa: BLE001 - whatever a program raises
                    return failed(self._recorded(f"{type(error).__name__}: {error}"))
                found = found or gradients_differ(expected, actual)
                flows = flows or _flows([actual])
        return {"difference": found, "flows": flows}

    def _flow(self, function: Callable[..., Any], seed: int, *, leaf: bool) -> Gradients:
        return gradients_of(self.module, function, self._inputs(seed), leaf=leaf, seed=1000 + seed)

    def _check_isolated(self, expected: list[Outcome]) -> dict[str, Any]:
        breaks, counts, (outcome,) = self._run_compiled(self.function, SEEDS[:1], fullgraph=False)
        found = difference(expected[0], outcome)
        record = {
            "breaks": sum(one.count for one in breaks if one.happened),
            "graphs": counts["graphs"],
            "equal": not found,
        }
        return {**record, "cause": found} if found else record


def _why_no_fix(record: Mapping[str, Any]) -> str:
    """Why a function that gives what eager gives is no fix all the same; empty if it may be one."""
    if record["breaks"]:
        return "it breaks the graph"
    if not record["ops"]:
        return "no operation is in a graph: nothing is compiled"
    if record.get("opaque"):
        return "all that torch sees of it is an operator made for it; call it isolated..., or argue in OPAQUE"
    if record.get("drops"):
        return f"it does not print {record['drops']}, which the program prints"
    return ""


def _other_backend(name: str) -> Callable[..., Any]:
    """Imported only here: a torch that lost a private name which it needs still runs the others."""
    from repro_runner.graphs.by_name import find_backend

    return find_backend(name)


def _look(targets: list[Any], graph: torch.fx.GraphModule, _inputs: object, **_options: object) -> Callable[..., Any]:
    """A backend that runs the graph as it is, and adds what it calls to `targets`."""
    targets.extend(node.target for node in graph.graph.nodes if node.op == "call_function")
    targets.extend(None for node in graph.graph.nodes if node.op in ("call_method", "call_module"))
    forward: Callable[..., Any] = graph.forward
    return forward


def _is_made_up(target: Any) -> bool:
    """Whether an operation of a graph is none of torch's or Python's own."""
    if target is None:
        return False
    home = getattr(target, "namespace", None) or getattr(target, "__module__", None) or ""
    return home not in _TORCH_OPERATORS and not home.startswith(("torch", "_operator", "builtins", "math"))


def _flows(gradients: list[Gradients]) -> bool:
    return any(one is not None for of_seed in gradients for one in of_seed.values())


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


def _same(*inputs: Any) -> bool:
    first, *others = (Outcome(value=keep(given), inputs=None) for given in inputs)
    return all(not difference(first, other) for other in others)


@contextlib.contextmanager
def _traced(function: Callable[..., Any], lines: set[int]) -> Iterator[None]:
    """Add the numbers of the lines of `function` that run inside the block to `lines`."""
    code = inspect.unwrap(function).__code__

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
    code = inspect.unwrap(function).__code__
    return {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
