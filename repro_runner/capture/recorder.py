"""Watch Dynamo raise, resume and skip, and keep what it says.

Four places are wrapped while a capture is on: where a message is put together (its parts), where the exception is made
(the user's stack), where a break is logged (it was resumed, or the frame was skipped), and where a frame's compilation
ends (an exception that leaves it is fatal, or is swallowed by a skip). Torch looks the first two up at every call, so
a wrapper reaches every call site. Everything is put back at the end, also after an exception, and captures nest.
"""

from __future__ import annotations

import functools
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch._dynamo import convert_frame, exc, symbolic_convert

from repro_runner.capture.breaks import KINDS, CapturedBreak, UserFrame
from repro_runner.capture.identify import Identifier

_CHAINED = "\n\n*** While handling this graph break, another graph break occurred"
"""What torch writes between the message of a break and the one it surfaced as."""

_SKIPPED = "falling back to eager"
"""What Dynamo's reason says when it gives the whole frame up."""


@contextmanager
def capture_breaks(other_types: Mapping[str, str] | None = None) -> Iterator[list[CapturedBreak]]:
    """Record every break of this process; the list is filled when the block ends, also by an exception.

    `other_types` maps types that this torch's registry does not know to their ids.
    """
    recorder = _Recorder(Identifier(other_types))
    breaks: list[CapturedBreak] = []
    with ExitStack() as undo:
        undo.callback(lambda: breaks.extend(recorder.captured()))
        recorder.install(undo)
        yield breaks


@dataclass(slots=True)
class _Parts:
    gb_type: str
    context: str
    explanation: str
    hints: tuple[str, ...]


@dataclass(slots=True, eq=False)
class _Raised:
    """One break on its way; `kind` gets stronger as more becomes known."""

    parts: _Parts
    message: str
    stack: tuple[UserFrame, ...]
    compile_id: str
    kind: str = KINDS[-1]
    surfaced_as: _Raised | None = None

    def became(self, kind: str) -> None:
        if KINDS.index(kind) < KINDS.index(self.kind):
            self.kind = kind


@dataclass(slots=True)
class _Recorder:
    identifier: Identifier
    raised: list[_Raised] = field(default_factory=list)
    formatted: dict[str, _Parts] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def install(self, undo: ExitStack) -> None:
        _wrap(undo, exc, "format_graph_break_message", self._around_format)
        _wrap(undo, exc.Unsupported, "__init__", self._around_init)
        _wrap(undo, convert_frame.ConvertFrameAssert, "__call__", self._around_convert)
        _wrap(undo, convert_frame.ConvertFrame, "__call__", self._around_convert_or_skip)
        base: Any = symbolic_convert.InstructionTranslatorBase
        owner = base if hasattr(base, "log_graph_break") else symbolic_convert  # a function in torch 2.8
        _wrap(undo, owner, "log_graph_break", self._around_log)

    def _around_format(self, original: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(original)
        def format_message(gb_type: str, context: Any = "", explanation: Any = "", hints: Any = (), **more: Any) -> str:
            message = original(gb_type, context, explanation, hints, **more)
            with self.lock:
                self.formatted[message] = _Parts(
                    gb_type, str(context or ""), str(explanation or ""), tuple(hints or ())
                )
            return message

        return format_message

    def _around_init(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(error: Any, message: str, *args: Any, **kwargs: Any) -> None:
            original(error, message, *args, **kwargs)
            raised = self._remember(message, getattr(error, "real_stack", None), error)
            # Captures nest: each leaves its own.
            error._graphbreak_raised = {**getattr(error, "_graphbreak_raised", {}), id(self): raised}

        return init

    def _around_log(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def log(*args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            reason = str(kwargs.get("reason") or next((arg for arg in args if isinstance(arg, str)), ""))
            error = kwargs.get("exc") or next((arg for arg in args if isinstance(arg, BaseException)), None)
            found = self._raised_in(error) or self._by_text(reason, kwargs.get("user_stack"))
            for raised in found:
                raised.became("frame skipped" if _SKIPPED in reason else "resumed")

        return log

    def _around_convert(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Whatever leaves a frame's compilation is fatal, until somebody is seen to swallow it."""

        @functools.wraps(original)
        def convert(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                # Some releases wrap a break in an exception of another class: its message still is in the text.
                for raised in self._raised_in(error) or self._by_text(str(error), getattr(error, "real_stack", None)):
                    raised.became("fatal")
                raise

        return convert

    def _around_convert_or_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Where breaks are allowed, a compilation that failed without an exception has skipped its frame."""

        @functools.wraps(original)
        def convert(*args: Any, **kwargs: Any) -> Any:
            before = len(self.raised)
            result = original(*args, **kwargs)
            for raised in self.raised[before:]:
                if raised.kind == "fatal":
                    raised.became("frame skipped")
            return result

        return convert

    def _raised_in(self, error: BaseException | None) -> list[_Raised]:
        """The break in an exception or in what caused it: the one that surfaced."""
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            raised = getattr(error, "_graphbreak_raised", {}).get(id(self))
            if raised is not None:
                return [raised]
            error = error.__cause__ or error.__context__
        return []

    def _by_text(self, reason: str, stack: Any) -> list[_Raised]:
        """A break without an exception of its own, as torch 2.8 logs some: its message is in the text."""
        messages = [message for message in self.formatted if message.strip() and message.strip() in reason]
        return [self._remember(messages[-1], stack)] if messages else []

    def _remember(self, message: str, stack: Any, error: BaseException | None = None) -> _Raised:
        first = message.strip().partition("\n")[0]
        gb_type = str(getattr(error, "gb_type", "") or first)
        # A message may quote the break that caused it: its own part is the one of its type.
        own = (p for text, p in reversed(self.formatted.items()) if p.gb_type == gb_type and text.strip() in message)
        parts = next(own, _Parts(gb_type, "", "", ()))
        compile_id = torch._guards.CompileContext.current_compile_id()
        raised = _Raised(parts, message, _frames(stack), str(compile_id or ""))
        with self.lock:
            self.raised.append(raised)
        return raised

    def captured(self) -> list[CapturedBreak]:
        """What happened, equal ones counted, in the order in which they were first seen."""
        for raised in reversed(self.raised):
            self._follow_causes(raised)
        found: dict[CapturedBreak, int] = {}
        for raised in self.raised:
            one = CapturedBreak(
                gb_id=self._id_of(raised),
                gb_type=raised.parts.gb_type,
                message=raised.message,
                context=raised.parts.context,
                explanation=raised.parts.explanation,
                hints=raised.parts.hints,
                kind=raised.kind,
                stack=raised.stack,
                compile_id=raised.compile_id,
                surfaced_as=self._id_of(raised.surfaced_as),
            )
            found[one] = found.get(one, 0) + 1
        return [replace(one, count=count) for one, count in found.items()]

    def _follow_causes(self, surfaced: _Raised) -> None:
        """A break that another one quotes as its cause happened as that one did."""
        for raised in self.raised:
            if raised is not surfaced and surfaced.message.startswith(raised.message + _CHAINED):
                raised.became(surfaced.kind)
                raised.surfaced_as = surfaced

    def _id_of(self, raised: _Raised | None) -> str:
        return self.identifier.gb_id(raised.parts.gb_type, raised.message) if raised is not None else ""


def _wrap(undo: ExitStack, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    setattr(owner, name, wrapper(original))
    undo.callback(setattr, owner, name, original)


def _frames(stack: Any) -> tuple[UserFrame, ...]:
    if not isinstance(stack, traceback.StackSummary):
        return ()
    return tuple(
        UserFrame(file=frame.filename, line=frame.lineno or 0, function=frame.name, source=(frame.line or "").strip())
        for frame in stack
    )
