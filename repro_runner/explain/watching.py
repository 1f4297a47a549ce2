"""Watch a program while it compiles and runs. Breaks can be allowed although the program asks for one whole graph."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType
from typing import Any
from weakref import WeakSet

import torch

from repro_runner.capture.breaks import plain_name
from repro_runner.capture.from_text import LoggedPlaces, logged_cuda_graph_skips, logged_places
from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder, TakenFrame, frames_in_text
from repro_runner.environment import describe_environment
from repro_runner.explain.counting import Tally, with_counter
from repro_runner.explain.find_sites import (
    Compilation,
    Watched,
    find_recompiles,
    find_sites,
    find_totals,
    find_unlisted,
)
from repro_runner.explain.report import Report
from repro_runner.explain.site import CudaGraphSkip
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
"""torch writes the compile id before the guard that failed, and source and stack of the user's code after it."""
_HINT = re.compile(r"\(HINT: (.*)\)$", re.MULTILINE)


@contextmanager
def explain(compiled: Callable[[Callable[[], Report]], None] | None = None) -> Iterator[Report]:
    """Record every break of this process. The report is filled when the block ends, also after an exception.

    All threads are watched. A break is recorded when its frame is compiled, so code that was compiled before the block
    is not in the report. Blocks can be nested. Code that was compiled inside the block keeps its counters, which cost
    about 10 ns per call. A child that is forked inside the block starts with an empty record.

    `compiled` is called after each compilation, with a function that makes the report up to then.
    """
    report = Report()
    watcher = _Watcher(report, compiled)
    try:
        with ExitStack() as undo:
            watcher.install(undo)
            yield report
    finally:
        watcher.fill()


_installed: WeakSet[_Watcher] = WeakSet()
"""The watchers of this process: a child that is forked has them, too."""


def _forget_parent() -> None:
    for watcher in list(_installed):
        watcher.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


class _Watcher:
    """Records breaks, compilations and counts while an `explain()` block runs."""

    def __init__(self, report: Report, compiled: Callable[[Callable[[], Report]], None] | None) -> None:
        self._report = report
        self._recorder = Recorder(Identifier())
        after = None if compiled is None else functools.partial(compiled, self.fill)
        self._compilations = _CompilationCollector(self._recorder, after)
        self._tallies: dict[TakenFrame, Tally] = {}
        self._cuda_graph_skips: dict[CudaGraphSkip, None] = {}
        self._logged = LoggedPlaces(complete=False)

    def fill(self) -> Report:
        """Put what was recorded up to now into the report."""
        watched = self.watched()
        report, logged = self._report, self._logged
        report.compared = logged.complete
        report.reports = logged.reports.total() if logged.complete else 0
        report.unlisted = find_unlisted(watched, logged.reports)
        report.environment = _environment()
        report.sites = find_sites(watched)
        report.recompiles = find_recompiles(watched.compilations)
        report.totals = find_totals(watched.compilations)
        report.cuda_graph_skips = tuple(self._cuda_graph_skips)
        return report

    def forget(self) -> None:
        """In a child: drop what the parent recorded. A thread of the parent may have held the lock."""
        self._recorder.forget()
        self._compilations.seen.clear()
        self._compilations.rests.clear()
        self._tallies.clear()
        self._cuda_graph_skips.clear()
        self._logged.reports.clear()

    def install(self, undo: ExitStack) -> None:
        _installed.add(self)
        undo.callback(_installed.discard, self)
        self._logged = undo.enter_context(logged_places())
        undo.enter_context(logged_cuda_graph_skips(self._note_skip))
        self._recorder.install(undo)
        self._compilations.install(undo)
        if hasattr(convert_frame, "register_bytecode_hook"):
            undo.callback(convert_frame.register_bytecode_hook(self._count).remove)

    def _count(self, code: CodeType, new_code: CodeType) -> CodeType | None:  # noqa: ARG002  torch's signature
        """Dynamo calls this with the code that it made for a frame, and installs the code that is returned, if any."""
        frame = self._recorder.current_frame()
        if frame is None or not any(one.kind == "resumed" for one in frame.raised):
            return None
        if getattr(dynamo_config, "caching_precompile", False):
            return None  # this code is saved to disk, and a counter can't be saved
        tally = Tally()
        changed = with_counter(new_code, tally)
        if changed is not None:
            self._tallies[frame] = tally
        return changed

    def _note_skip(self, text: str) -> None:
        """Note that a graph runs without CUDA graphs. torch finds that out when it compiles, or when the graph runs."""
        frame = self._recorder.current_frame()
        code = frame.code if frame else None
        named = frames_in_text(text)
        skip = CudaGraphSkip(
            function=plain_name(code.co_name if code else named[-1].function if named else ""),
            file=code.co_filename if code else named[-1].file if named else "",
            line=code.co_firstlineno if code else named[-1].line if named else 0,
            reason=text.partition("Found from")[0].strip(" .\n"),
        )
        self._cuda_graph_skips[skip] = None

    def watched(self) -> Watched:
        return Watched(
            recorder=self._recorder,
            compilations=tuple(self._compilations.seen),
            rests=self._compilations.rests,
            ran={frame: tally.read() for frame, tally in self._tallies.items()},
        )


def _environment() -> dict[str, str]:
    """The environment, as in an evidence file. It starts no process to ask for the GPU."""
    described = describe_environment("cpu")
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return {**described, "device": "cuda", "device_name": torch.cuda.get_device_name()}
    return described


class _CompilationCollector:
    """Collects compilations until `undo` ends. It stays empty on a torch that does not record them."""

    def __init__(self, recorder: Recorder, after: Callable[[], None] | None = None) -> None:
        self.seen: list[Compilation] = []
        self._after = after
        """Called after each compilation."""
        self.rests: dict[TakenFrame, set[CodeType]] = {}
        """The code for the rest of a function after its break, by the frame that broke."""
        self._recorder = recorder

    def install(self, undo: ExitStack) -> None:
        """Wrap the places where torch makes its record (it keeps only 64) and the rests of functions."""
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
                if self._after is not None:
                    self._after()
            return metrics

        return create

    def _add(self, metrics: Any) -> None:
        compile_id = str(getattr(metrics, "compile_id", None) or "")
        if getattr(metrics, "is_forward", None) is False:
            self._add_backward(compile_id, (getattr(metrics, "duration_us", None) or 0) / 1e6)
        elif getattr(metrics, "co_name", None):
            self.seen.append(self._forward(metrics, compile_id))

    def _forward(self, metrics: Any, compile_id: str) -> Compilation:
        reason = getattr(metrics, "recompile_reason", None) or ""
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
            guard=_guard(reason),
            hint=found[1] if (found := _HINT.search(reason)) else "",
        )

    def _add_backward(self, compile_id: str, seconds: float) -> None:
        """Add the time of a backward graph, which is compiled when it first runs, to its forward compilation."""
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
    """Inside the block, `fullgraph=True`, `nopython=True` and `error_on_graph_break(True)` have no effect.

    Dynamo traces some code only if breaks are errors: `.item()` breaks here, and does not with `fullgraph=True`.
    """
    with ExitStack() as undo:
        for owner in (dynamo, eval_frame):
            wrap(undo, owner, "optimize", _around_optimize)
        # The class that Dynamo calls, and the one that it traces instead. Not all releases have them.
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
