"""While a program runs, measure how much of it runs in graphs, and what its breaks cost. This runs in a child.

To count op calls, every backend is replaced by one that runs a graph op by op. So an op is the same unit inside and
outside of graphs, and breaks do not depend on the backend. To measure times, the program's own backends are used.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder, TakenFrame
from repro_runner.explain.counting import Tally, with_counter
from repro_runner.fix_report.compiled_calls import wrap_compiled_callables, wrap_compiler
from repro_runner.torch_seams import (
    CompileContext,
    TorchDispatchMode,
    aot_autograd,
    convert_frame,
    default_partition,
    eval_frame,
    functorch_config,
    make_boxed_func,
    wrap,
)

NO_COUNT = "this torch can't count op calls in compiled code: it has no `TorchDispatchMode.ignore_compile_internals`"
_NO_OPS = frozenset({"profiler", "prim"})
"""Namespaces of functions that compute nothing."""


@dataclass(slots=True)
class _Call:
    """One outermost call of a compiled function, while it runs."""

    compiled_last: TakenFrame | None
    """What this thread had compiled last when the call began."""
    began: float
    graphs: int = 0
    breaks: int = 0
    ops_outside: int = 0
    inside: float = 0.0
    """Seconds inside graphs."""
    waiting: tuple[TakenFrame, float] | None = None
    """The break after which no graph has run yet, and since when."""
    lost: dict[TakenFrame, float] = field(default_factory=dict)
    """Seconds between the graph before a break and the next graph, by the frame that breaks."""

    def go_on(self, at: float) -> None:
        """A graph begins, or another break is reached, or the call ends: the time lost at the last break ends."""
        if self.waiting is not None:
            frame, since = self.waiting
            self.lost[frame] = self.lost.get(frame, 0.0) + at - since
            self.waiting = None


class _Here(threading.local):
    """What this thread is doing."""

    def __init__(self) -> None:
        self.call: _Call | None = None
        self.graphs = 0
        """How many graphs are running, one inside the other."""


@dataclass(slots=True)
class Meter:
    """What was measured."""

    ops: Counter[str] = field(default_factory=Counter)
    """Op calls by place, as Share names them: inside, between, elsewhere, before."""
    calls: Counter[str] = field(default_factory=Counter)
    plain: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """The times of calls that compiled nothing, by the name of the function."""
    inside: float = 0.0
    """The seconds of these calls inside graphs."""
    lost: list[dict[TakenFrame, float]] = field(default_factory=list)
    """Of each of these calls, the seconds lost at the breaks of frames."""
    started: bool = False
    """Whether a compiled function was called."""
    here: _Here = field(default_factory=_Here)
    recorder: Recorder = field(default_factory=lambda: Recorder(Identifier()))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def result(self) -> dict[str, Any]:
        """The fields of a Share."""
        if not self.started:  # nothing was compiled, so nothing was set-up
            self.ops = Counter(elsewhere=self.ops.total())
        seconds = list(itertools.chain(*self.seconds.values()))
        return {
            **{f"ops_{place}": number for place, number in self.ops.items()},
            **{f"calls_{kind}": number for kind, number in self.calls.items()},
            "plain": dict(self.plain),
            "time_share": self.inside / sum(seconds) if seconds else None,
            "timed_calls": len(seconds),
        }

    def costs(self) -> list[dict[str, Any]]:
        """The time lost at each break: `where` and id as in a Site, the calls that reached it, the median of a call."""
        surfaced = {id(one.surfaced_as) for one in self.recorder.followed()}
        found: dict[tuple[str, str], list[float]] = {}
        for call in self.lost:
            per_site: Counter[tuple[str, str]] = Counter()  # a break in an inlined function breaks its caller, too
            for frame, seconds in call.items():
                for cause in [one for one in frame.raised if one.kind == "resumed" and id(one) not in surfaced][-1:]:
                    place = f"{cause.stack[-1].file}:{cause.stack[-1].line}" if cause.stack else ""
                    per_site[place, self.recorder.id_of(cause)] += seconds  # type: ignore[assignment]
            for site, lost in per_site.items():
                found.setdefault(site, []).append(lost)
        return [
            {"where": where, "gb_id": gb_id, "calls": len(lost), "per_call": statistics.median(lost)}
            for (where, gb_id), lost in found.items()
        ]

    def count_op(self) -> None:
        call = self.here.call
        if self.here.graphs:
            place = "inside"
        elif call is not None:
            place = "between"
            call.ops_outside += 1
        else:
            place = "elsewhere" if self.started else "before"
        with self.lock:
            self.ops[place] += 1

    def mark(self, code: CodeType, new_code: CodeType) -> CodeType | None:  # noqa: ARG002  torch's signature
        """Make the code that Dynamo made for a frame call `reach` at its break."""
        frame = self.recorder.current_frame()
        if frame is None or not any(one.kind == "resumed" for one in frame.raised):
            return None
        tally = Tally()
        tally.turn = functools.partial(self.reach, frame)
        return with_counter(new_code, tally)

    def reach(self, frame: TakenFrame) -> int:
        """A break is reached: its graph has run."""
        call = self.here.call
        if call:
            call.breaks += 1
            at = now()
            call.go_on(at)
            call.waiting = frame, at
        return 0

    def run_graph(self, graph: Callable[..., Any], *inputs: Any) -> Any:
        """Run a graph, or its backward."""
        here, call = self.here, self.here.call
        self.started = True
        began = now() if call and not here.graphs else 0.0
        if call and not here.graphs:
            call.go_on(began)
        here.graphs += 1
        try:
            return graph(*inputs)
        finally:
            here.graphs -= 1
            if call and not here.graphs:
                call.graphs += 1
                call.inside += now() - began

    def run_call(self, compiled: Callable[..., Any], fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make an outermost call of a compiled function."""
        self.started = True
        here = self.here
        call = here.call = _Call(self.recorder.last_frame(), now())
        try:
            return compiled(*args, **kwargs)
        finally:
            here.call = None
            self._ended(call, fn, now())

    def _ended(self, call: _Call, fn: Any, ended: float) -> None:
        kind = _kind(call)
        call.go_on(ended)
        with self.lock:
            self.calls[kind] += 1
            name, place = _described(fn)
            if kind == "plain":
                self.plain[f"{name} ({place})"] += 1
            if call.compiled_last is self.recorder.last_frame():
                self.seconds.setdefault(name, []).append(ended - call.began)
                self.inside += call.inside
                self.lost.append(call.lost)


def _kind(call: _Call) -> str:
    if not call.graphs and not call.breaks:
        return "plain" if call.ops_outside else "empty"
    return "broken" if call.breaks or call.graphs > 1 or call.ops_outside else "whole"


def _described(fn: Any) -> tuple[str, str]:
    """(name, `file:line`) of a compiled function; of a module, its `forward`."""
    owner = getattr(fn, "__self__", None)
    function = inspect.unwrap(
        type(owner).forward if isinstance(owner, torch.nn.Module) else getattr(fn, "__func__", fn)
    )
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return name, f"{code.co_filename}:{code.co_firstlineno}" if code else "no file:0"


def now() -> float:
    """The time, after a GPU has done all that it was given."""
    if torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
    return time.perf_counter()


@contextmanager
def measuring(*, ops: bool) -> Iterator[Meter]:
    """Measure until the block ends: with `ops`, op calls and kinds of calls; else times."""
    meter = Meter()
    for function in (meter.reach, now, _Call.go_on):
        eval_frame.skip_code(function.__code__)  # compiled code calls it: Dynamo is not to compile it in its turn
    with ExitStack() as undo:
        meter.recorder.install(undo)
        if hasattr(convert_frame, "register_bytecode_hook"):
            undo.callback(convert_frame.register_bytecode_hook(meter.mark).remove)
        wrap_compiled_callables(undo, meter.run_call)
        wrap_compiler(undo, lambda original: _measured(original, meter, _op_by_op(meter) if ops else None))
        if ops:
            # Buffers that are given away would forbid a second backward pass, which a program may make.
            undo.enter_context(functorch_config.patch(donated_buffer=False))
            wrap(undo, threading.Thread, "start", lambda original: _counting_thread(original, meter))
            undo.enter_context(_counting_mode(meter))
        yield meter


def _measured(original: Callable[..., Any], meter: Meter, backend: Callable[..., Any] | None) -> Callable[..., Any]:
    @functools.wraps(original)
    def call_user_compiler(graph: Any, *args: Any, **kwargs: Any) -> Any:
        own = graph.compiler_fn
        graph.compiler_fn = backend or own
        try:
            compiled = original(graph, *args, **kwargs)
        finally:
            graph.compiler_fn = own

        @functools.wraps(compiled, updated=())
        def run(*inputs: Any) -> Any:
            return meter.run_graph(compiled, *inputs)

        return run

    return call_user_compiler


def _op_by_op(meter: Meter) -> Callable[..., Any]:
    """A backend that runs the forward and the backward graph op by op."""

    def forward(module: torch.fx.GraphModule, _inputs: Any) -> Any:
        return make_boxed_func(module.forward)

    def backward(module: torch.fx.GraphModule, _inputs: Any) -> Any:
        return make_boxed_func(functools.partial(meter.run_graph, module.forward))

    compiler: Callable[..., Any] = aot_autograd(
        fw_compiler=forward, bw_compiler=backward, partition_fn=default_partition
    )
    return compiler


def _counting_mode(meter: Meter) -> Any:
    """A mode that counts the op calls of the thread that enters it."""

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # else Dynamo would compile nothing under this mode

        def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func.namespace not in _NO_OPS and CompileContext.current_compile_id() is None:
                meter.count_op()
            return func(*args, **(kwargs or {}))

    return Counting()


def _counting_thread(original: Callable[..., None], meter: Meter) -> Callable[..., None]:
    """A mode holds for one thread: each new thread enters one."""

    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        run = thread.run

        def counting() -> None:
            with _counting_mode(meter):
                run()

        thread.run = counting  # type: ignore[method-assign]
        original(thread)

    return start
