"""Watch Dynamo raise, resume and skip, and keep what it says.

Four places are wrapped while a capture is on: where a message is put together (its parts), where the exception is made
(the user's stack), where a break is logged (it was resumed, or the frame was skipped), and where a frame's compilation
ends (an exception that leaves it is fatal, or is swallowed by a skip). Torch looks the first two up at every call, so
a wrapper reaches every call site. Everything is put back at the end, also after an exception, and captures nest.
"""

from __future__ import annotations

import functools
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from registry.message_layout import CHAIN
from repro_runner.capture.breaks import KINDS, SWALLOWED, CapturedBreak, UserFrame
from repro_runner.capture.identify import Identifier
from repro_runner.torch_seams import CompileContext, convert_frame, exc, symbolic_convert, wrap

_CHAINED = "\n\n" + CHAIN.partition(":")[0]
"""What torch writes between the message of a break and the one it surfaced as."""

_RULE = ": *\n"
"""What else it writes there."""

_SKIPPED = "falling back to eager"
"""What Dynamo's reason says when it gives the whole frame up."""


_CONVERTING = (Path(__file__).name, "exc.py", "convert_frame.py")
"""Files whose functions stand between a call and the break that its conversion raises."""


@contextmanager
def capture_breaks(other_types: Mapping[str, str] | None = None) -> Iterator[list[CapturedBreak]]:
    """Record every break of this process; the list is filled when the block ends, also by an exception.

    `other_types` maps types that this torch's registry does not know to their ids.
    """
    recorder = Recorder(Identifier(other_types))
    breaks: list[CapturedBreak] = []
    with ExitStack() as undo:
        undo.callback(lambda: breaks.extend(recorder.captured()))
        recorder.install(undo)
        yield breaks


@dataclass(frozen=True, slots=True)
class Parts:
    """What a message was put together from."""

    gb_type: str
    context: str
    explanation: str
    hints: tuple[str, ...]


@dataclass(slots=True, eq=False)
class TakenFrame:
    """One frame that Dynamo took up to compile; compile ids begin again after a reset, these are never the same."""

    code: CodeType | None
    asked_for: bool = True
    """Whether torch.compile was given this very function. Known of what breaks before a compilation has an id: Dynamo
    also tries generators that it meets in the middle of Python code, since nobody knows better."""
    raised: list[Raised] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Raised:
    """One break on its way; `kind` gets milder as more becomes known."""

    parts: Parts
    message: str
    stack: tuple[UserFrame, ...]
    compile_id: str
    frame: TakenFrame | None
    """None where nobody was compiling a frame, as in an export."""
    columns: tuple[int, int] | None = None
    """Of the expression that broke, in its line; None where Python or torch do not tell."""
    kind: str = SWALLOWED
    surfaced_as: Raised | None = None

    def became(self, kind: str) -> None:
        """Take the kind, unless a milder one is known already."""
        if kind != SWALLOWED and (self.kind == SWALLOWED or KINDS.index(kind) > KINDS.index(self.kind)):
            self.kind = kind


class _Frames(threading.local):
    """Of this thread: the frames being compiled, innermost last, and the one that was done with last."""

    def __init__(self) -> None:
        self.taken: list[TakenFrame] = []
        self.done: TakenFrame | None = None


@dataclass(slots=True)
class Recorder:
    """Keeps every break that is raised between `install` and the end of `undo`."""

    identifier: Identifier
    raised: list[Raised] = field(default_factory=list)
    formatted: dict[str, Parts] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _frames: _Frames = field(default_factory=_Frames)

    def install(self, undo: ExitStack) -> None:
        wrap(undo, exc, "format_graph_break_message", self._around_format)
        wrap(undo, exc.Unsupported, "__init__", self._around_init)
        wrap(undo, convert_frame.ConvertFrameAssert, "__call__", self._around_convert)
        wrap(undo, convert_frame.ConvertFrame, "__call__", self._around_convert_or_skip)
        base: Any = symbolic_convert.InstructionTranslatorBase
        owner = base if hasattr(base, "log_graph_break") else symbolic_convert  # a function in torch 2.8
        wrap(undo, owner, "log_graph_break", self._around_log)

    def current_frame(self) -> TakenFrame | None:
        """What this thread is compiling."""
        return self._frames.taken[-1] if self._frames.taken else None

    def _around_format(self, original: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(original)
        def format_message(gb_type: str, context: Any = "", explanation: Any = "", hints: Any = (), **more: Any) -> str:
            message = original(gb_type, context, explanation, hints, **more)
            with self.lock:
                self.formatted[message] = Parts(gb_type, str(context or ""), str(explanation or ""), tuple(hints or ()))
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
        def convert(convert_self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            frames = self._frames
            frames.taken.append(TakenFrame(getattr(frame, "f_code", None)))
            try:
                return original(convert_self, frame, *args, **kwargs)
            except BaseException as error:
                # Some releases wrap a break in an exception of another class: its message still is in the text.
                for raised in self._raised_in(error) or self._by_text(str(error), getattr(error, "real_stack", None)):
                    raised.became("fatal")
                for raised in frames.taken[-1].raised:
                    if raised.kind == "resumed":  # in an attempt of which nothing came
                        raised.kind = "fatal"
                raise
            finally:
                frames.done = frames.taken.pop()

        return convert

    def _around_convert_or_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Where breaks are allowed, a compilation that failed without an exception has skipped its frame."""

        @functools.wraps(original)
        def convert(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            frame = self._frames.done
            for raised in frame.raised if frame is not None else ():
                if raised.kind == "fatal":
                    raised.became("frame skipped")
            return result

        return convert

    def _raised_in(self, error: BaseException | None) -> list[Raised]:
        """The break in an exception or in what caused it: the one that surfaced."""
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            raised = getattr(error, "_graphbreak_raised", {}).get(id(self))
            if raised is not None:
                return [raised]
            error = error.__cause__ or error.__context__
        return []

    def _by_text(self, reason: str, stack: Any) -> list[Raised]:
        """A break without an exception of its own, as torch 2.8 logs some: its message is in the text."""
        messages = [message for message in self.formatted if message.strip() and message.strip() in reason]
        return [self._remember(messages[-1], stack)] if messages else []

    def _remember(self, message: str, stack: Any, error: BaseException | None = None) -> Raised:
        first = message.strip().partition("\n")[0]
        gb_type = str(getattr(error, "gb_type", "") or first)
        compile_id = CompileContext.current_compile_id()
        frame = self.current_frame()
        raised = Raised(
            self._parts_of(message, gb_type),
            message,
            _user_frames(stack),
            str(compile_id or ""),
            frame,
            columns=_columns(stack),
        )
        if frame is not None:
            frame.raised.append(raised)
            frame.asked_for = compile_id is not None or _called_by_wrapper()
        with self.lock:
            self.raised.append(raised)
        return raised

    def _parts_of(self, message: str, gb_type: str) -> Parts:
        """A message may quote the break that caused it: its own part is the last, and is of its type."""
        parts = self.formatted.get(message.rpartition(_CHAINED)[2].lstrip(_RULE))
        if parts is not None and parts.gb_type == gb_type:
            return parts
        with self.lock:
            known = reversed(list(self.formatted.items()))
        own = (parts for text, parts in known if parts.gb_type == gb_type and text.strip() in message)
        return next(own, Parts(gb_type, "", "", ()))

    def captured(self) -> list[CapturedBreak]:
        """What happened, equal ones counted, in the order in which they were first seen."""
        found: dict[CapturedBreak, int] = {}
        for raised in self.followed():
            one = CapturedBreak(
                gb_id=self.id_of(raised),
                gb_type=raised.parts.gb_type,
                message=raised.message,
                context=raised.parts.context,
                explanation=raised.parts.explanation,
                hints=raised.parts.hints,
                kind=raised.kind,
                stack=raised.stack,
                compile_id=raised.compile_id,
                surfaced_as=self.id_of(raised.surfaced_as) if raised.surfaced_as is not None else "",
            )
            found[one] = found.get(one, 0) + 1
        return [replace(one, count=count) for one, count in found.items()]

    def followed(self) -> list[Raised]:
        """All that was raised; of each is known what it surfaced as."""
        together: dict[tuple[int, str], list[Raised]] = {}
        for raised in self.raised:
            together.setdefault((id(raised.frame), raised.compile_id), []).append(raised)
        for group in together.values():
            for surfaced in reversed(group):
                if _CHAINED in surfaced.message:
                    _follow_causes(surfaced, group)
        return self.raised

    def id_of(self, raised: Raised) -> str:
        return self.identifier.gb_id(raised.parts.gb_type, raised.message)


def _follow_causes(surfaced: Raised, group: list[Raised]) -> None:
    """A break that another one quotes as its cause, in the same compilation and at the same place, happened as it."""
    for raised in group:
        here = raised.stack == surfaced.stack or not raised.stack or not surfaced.stack
        if raised is not surfaced and here and surfaced.message.startswith(raised.message + _CHAINED):
            raised.became(surfaced.kind)
            raised.surfaced_as = surfaced


def _called_by_wrapper() -> bool:
    """Whether the function that is being converted was called by what torch.compile returned, and by nobody between."""
    caller: FrameType | None = sys._getframe(1)
    while caller is not None and Path(caller.f_code.co_filename).name in _CONVERTING:
        caller = caller.f_back
    return caller is not None and Path(caller.f_code.co_filename).name == "eval_frame.py"


def _user_frames(stack: Any) -> tuple[UserFrame, ...]:
    if not isinstance(stack, traceback.StackSummary):
        return ()
    return tuple(
        UserFrame(file=frame.filename, line=frame.lineno or 0, function=frame.name, source=(frame.line or "").strip())
        for frame in stack
    )


def _columns(stack: Any) -> tuple[int, int] | None:
    """Python 3.11 is the first to know them."""
    last = stack[-1] if isinstance(stack, traceback.StackSummary) and stack else None
    start, end = getattr(last, "colno", None), getattr(last, "end_colno", None)
    return None if start is None or end is None else (start, end)
