"""Watch a program compile and run; with breaks allowed, where it asks for one whole graph."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType
from typing import Any

import torch

from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder, TakenFrame
from repro_runner.environment import describe_environment
from repro_runner.explain.counting import Tally, counted
from repro_runner.explain.find_sites import Compilation, Watched, find_recompiles, find_sites, find_totals
from repro_runner.explain.report import Report
from repro_runner.torch_seams import (
    ContinueExecutionCache,
    convert_frame,
    ctx_manager,
    decorators,
    dynamo,
    dynamo_config,
    dynamo_utils,
    eval_frame,
    wrap,
)

_GUARD = re.compile(r"\s*(?:!?\d+(?:/\d+)+: )?(?P<guard>.*?)\s*(?:\s{2}# .*)?(?:\n.*|$)", re.DOTALL)
"""Torch puts the compilation whose guard failed before the guard, and source and stack of the user's code after it."""


@contextmanager
def explain() -> Iterator[Report]:
    """Record every break of this process; the report is filled when the block ends, also by an exception.

    All threads are watched. Breaks are seen when a frame is compiled: what was compiled before the block is not in the
    report, and runs as it did. Blocks nest. Code that was compiled inside keeps its counters, of some ten nanoseconds a
    call, afterwards.
    """
    report = Report()
    watcher = _Watcher()
    try:
        with ExitStack() as undo:
            watcher.install(undo)
            yield report
    finally:
        watched = watcher.watched()
        report.environment = _environment()
        report.sites = find_sites(watched)
        report.recompiles = find_recompiles(watched.compilations)
        report.totals = find_totals(watched.compilations)


class _Watcher:
    """What is looked at while the block lasts."""

    def __init__(self) -> None:
        self._recorder = Recorder(Identifier())
        self._compilations = _CompilationCollector(self._recorder)
        self._tallies: dict[TakenFrame, Tally] = {}

    def install(self, undo: ExitStack) -> None:
        self._recorder.install(undo)
        self._compilations.install(undo)
        if hasattr(convert_frame, "register_bytecode_hook"):
            undo.callback(convert_frame.register_bytecode_hook(self._count).remove)

    def _count(self, code: CodeType, new_code: CodeType) -> CodeType | None:  # noqa: ARG002  torch's signature
        """Called by Dynamo with the code that it made of a frame; what comes back is installed in its place."""
        frame = self._recorder.current_frame()
        if frame is None or not any(one.kind == "resumed" for one in frame.raised):
            return None
        if getattr(dynamo_config, "caching_precompile", False):
            return None  # this code goes to disk, where a counter can't go
        tally = Tally()
        changed = counted(new_code, tally)
        if changed is not None:
            self._tallies[frame] = tally
        return changed

    def watched(self) -> Watched:
        return Watched(
            recorder=self._recorder,
            compilations=tuple(self._compilations.seen),
            rests=self._compilations.rests,
            ran={frame: tally.read() for frame, tally in self._tallies.items()},
        )


def _environment() -> dict[str, str]:
    """As in an evidence file; nothing outside of this process is asked."""
    here = describe_environment("cpu")
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return {**here, "device": "cuda", "device_name": torch.cuda.get_device_name()}
    return here


class _CompilationCollector:
    """Collects compilations while `undo` lasts; stays empty on a torch that does not record them."""

    def __init__(self, recorder: Recorder) -> None:
        self.seen: list[Compilation] = []
        self.rests: dict[TakenFrame, set[CodeType]] = {}
        """What Dynamo made of the rest of a function after its break, by the frame that broke."""
        self._recorder = recorder

    def install(self, undo: ExitStack) -> None:
        """Listen where torch makes its record, of which it keeps 64, and where it makes the rests."""
        _wrap_class_method(undo, getattr(dynamo_utils, "CompilationMetrics", None), "create", self._around_create)
        _wrap_class_method(undo, ContinueExecutionCache, "lookup", self._around_lookup)

    def _around_lookup(self, original: Callable[..., CodeType]) -> Callable[..., CodeType]:
        def lookup(*args: Any, **kwargs: Any) -> CodeType:
            rest = original(*args, **kwargs)
            frame = self._recorder.current_frame()
            if frame is not None:
                self.rests.setdefault(frame, set()).add(rest)
            return rest

        return lookup

    def _around_create(self, original: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
        def create(values: dict[str, Any]) -> Any:
            metrics = original(values)
            if not getattr(metrics, "is_runtime", False):
                self._add(metrics)
            return metrics

        return create

    def _add(self, metrics: Any) -> None:
        compile_id = str(getattr(metrics, "compile_id", None) or "")
        if getattr(metrics, "is_forward", None) is False:
            self._add_backward(compile_id, (getattr(metrics, "duration_us", None) or 0) / 1e6)
        elif getattr(metrics, "co_name", None):
            self.seen.append(self._forward(metrics, compile_id))

    def _forward(self, metrics: Any, compile_id: str) -> Compilation:
        return Compilation(
            frame=self._recorder.current_frame(),
            compile_id=compile_id,
            name=metrics.co_name,
            file=metrics.co_filename or "",
            line=metrics.co_firstlineno or 0,
            ops=metrics.graph_op_count,
            installed=bool(getattr(metrics, "has_guarded_code", metrics.graph_op_count is not None)),
            seconds=getattr(metrics, "entire_frame_compile_time_s", None) or 0.0,
            thrown_away=getattr(metrics, "dynamo_time_before_restart_s", None) or 0.0,
            guard=_guard(getattr(metrics, "recompile_reason", None) or ""),
        )

    def _add_backward(self, compile_id: str, seconds: float) -> None:
        """The backward graph is compiled when it first runs: its time is that of the forward one's compilation."""
        for one in reversed(self.seen):
            if one.compile_id == compile_id:
                one.seconds += seconds
                return


def _guard(reason: str) -> str:
    found = _GUARD.fullmatch(reason)
    return found["guard"] if found else reason


def _wrap_class_method(undo: ExitStack, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    if name in getattr(owner, "__dict__", {}):
        undo.callback(setattr, owner, name, vars(owner)[name])
        setattr(owner, name, staticmethod(wrapper(getattr(owner, name))))


@contextmanager
def breaks_allowed() -> Iterator[None]:
    """`fullgraph=True`, `nopython=True` and `error_on_graph_break(True)` have no effect on what is made inside.

    Dynamo traces some things only where breaks are errors: `.item()` breaks here, and does not with `fullgraph=True`.
    """
    with ExitStack() as undo:
        for owner in (dynamo, eval_frame):
            wrap(undo, owner, "optimize", _around_optimize)
        # What Dynamo calls, and what it traces in its place; not in all releases.
        for owner, name in (
            (decorators, "ErrorOnGraphBreakDecoratorContextManager"),
            (ctx_manager, "ErrorOnGraphBreakVariable"),
        ):
            if hasattr(owner, name):
                wrap(undo, getattr(owner, name), "__init__", _around_init)
        yield


def _around_optimize(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def optimize(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("nopython", None)
        kwargs.pop("error_on_graph_break", None)
        return original(*args, **kwargs)

    return optimize


def _around_init(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(switch: Any, error_on_graph_break: bool, **kwargs: Any) -> None:  # noqa: ARG001
        original(switch, False, **kwargs)

    return init
