"""What torch says of each compilation of a frame when it ends: its graph, its time, and why it had to be."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import CodeType
from typing import Any

from torch._dynamo import resume_execution, utils

from repro_runner.capture.breaks import RESUMED
from repro_runner.capture.recorder import Recorder, TakenFrame

_GUARD = re.compile(r"\s*(?:!?\d+(?:/\d+)+: )?(?P<guard>.*?)\s*(?:\s{2}# .*)?(?:\n.*|$)", re.DOTALL)
"""Torch puts the compilation whose guard failed before the guard, and source and stack of the user's code after it."""


@dataclass(slots=True, kw_only=True)
class Compilation:
    """One compilation of a function, or of the rest of one after a break."""

    frame: TakenFrame | None
    compile_id: str
    name: str
    """Of the code: the rest of `f` after line 7 is called `torch_dynamo_resume_in_f_at_7`."""
    file: str
    line: int
    ops: int | None
    """In its graph; None where the compilation came to nothing."""
    installed: bool
    """Whether code came of it."""
    seconds: float
    thrown_away: float
    """Of those seconds: attempts before the last one, or all of them when the frame was given up."""
    guard: str
    """Which one failed, so that this compilation had to be; empty for a first one."""

    @property
    def is_rest(self) -> bool:
        return RESUMED.fullmatch(self.name) is not None

    @property
    def has_graph(self) -> bool:
        return self.installed and bool(self.ops)


class Compilations:
    """Collects them while `undo` lasts; stays empty on a torch that does not tell."""

    def __init__(self, recorder: Recorder) -> None:
        self.seen: list[Compilation] = []
        self.rests: dict[TakenFrame, set[CodeType]] = {}
        """What Dynamo made of the rest of a function after its break, by the frame that broke."""
        self._recorder = recorder

    def install(self, undo: ExitStack) -> None:
        """Listen where torch makes its record, of which it keeps 64, and where it makes the rests."""
        _wrap_class_method(undo, getattr(utils, "CompilationMetrics", None), "create", self._around_create)
        _wrap_class_method(undo, resume_execution.ContinueExecutionCache, "lookup", self._around_lookup)

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
