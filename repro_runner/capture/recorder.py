"""Record every break that Dynamo raises, and whether Dynamo resumed after it, skipped the frame, or failed.

A capture wraps four places in torch: where a message is formatted (its parts), where the exception is made (the user's
stack), where a break is logged (it was resumed, or the frame was skipped), and where the compilation of a frame ends
(an exception that leaves it is fatal, unless the frame is then skipped). Torch looks the first two up at every call, so
a wrapper reaches every call site. All wrappers are removed at the end, also after an exception. Captures can be nested.

Errors of other classes (`UserError`, internal errors, errors of a backend) have no type and no id. They are recorded
all the same: a graph ended there, too.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

from registry.message_layout import CHAIN, FRAME, FROM_USER_CODE
from repro_runner.capture.breaks import KINDS, SWALLOWED, CapturedBreak, UserFrame
from repro_runner.capture.identify import Identifier
from repro_runner.torch_seams import CompileContext, convert_frame, exc, symbolic_convert, wrap

_CHAINED = "\n\n" + CHAIN.partition(":")[0]
"""The text that torch writes between the message of a break and the message that it was reported as."""

_RULE = ": *\n"
"""Characters that may follow that text."""

_SKIPPED = "falling back to eager"
"""This text is in Dynamo's reason when Dynamo skips the whole frame."""


_CONTROL = (exc.SkipFrame, exc.RestartAnalysis)
"""What Dynamo raises to go on in another way. It is no error."""

_WORD = re.compile(r"[A-Za-z][A-Za-z'/-]*[.,:;]?")
"""A word of torch's text. A name from the user's program or a number usually has other characters."""

_BEFORE_FRAMES = (FROM_USER_CODE[0], "User stack:", "The following call raised this error:")
"""What stands in the text of an error before the user's frames."""

_ADVICE = "Consider annotating your code using torch._check*(). "
"""With this torch begins the text of some errors, which are different ones."""

_DEEPEST = 50
"""How many callers of a frame are kept."""

_CONVERTING = (Path(__file__).name, "exc.py", "convert_frame.py")
"""Files whose functions are on the Python stack between a call and the break that compiling it raises."""


@contextmanager
def capture_breaks(
    other_types: Mapping[str, str] | None = None, *, errors: bool = False
) -> Iterator[list[CapturedBreak]]:
    """Record every break of this process. The list is filled when the block ends, also after an exception.

    `other_types` maps types that this torch's registry does not know to their ids. With `errors`, errors of other
    classes that end a compilation are recorded, too.
    """
    recorder = Recorder(Identifier(other_types))
    breaks: list[CapturedBreak] = []
    with ExitStack() as undo:
        undo.callback(lambda: breaks.extend(recorder.captured(errors=errors)))
        recorder.install(undo)
        yield breaks


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a break's message."""

    gb_type: str
    context: str
    explanation: str
    hints: tuple[str, ...]


@dataclass(slots=True, eq=False)
class TakenFrame:
    """One attempt of Dynamo to compile a frame. Unlike compile ids, which start again after a reset, it is unique."""

    code: CodeType | None
    asked_for: bool = True
    """Whether the user asked to compile this function. It is False for a frame that broke before its compilation had
    an id and that torch.compile did not call, such as a generator that Dynamo meets in plain Python code."""
    raised: list[Raised] = field(default_factory=list)
    callers: tuple[CodeType, ...] = ()
    """The functions that Python runs on the way to this frame, innermost first. Dynamo may have skipped them."""
    one_graph: bool = False
    """Whether the program asks for one graph, as with fullgraph=True, so that a break is an error."""
    exported: bool = False
    """Whether this is a call of torch.export."""


@dataclass(slots=True, eq=False)
class Raised:
    """One break that was raised. Its `kind` can change to a milder one while the compilation goes on."""

    parts: Parts
    message: str
    stack: tuple[UserFrame, ...]
    compile_id: str
    frame: TakenFrame | None
    """None where no frame was being compiled, as in an export."""
    is_error: bool = False
    """Whether it is an error of another class than torch's breaks."""
    columns: tuple[int, int] | None = None
    """First and last column of the expression that broke; None where Python or torch do not know them."""
    kind: str = SWALLOWED
    reported: bool = False
    """Whether torch writes it into its log of graph breaks."""
    surfaced_as: Raised | None = None

    def became(self, kind: str) -> None:
        """Set the kind, unless a milder one is set already."""
        if kind != SWALLOWED and (self.kind == SWALLOWED or KINDS.index(kind) > KINDS.index(self.kind)):
            self.kind = kind


class _Frames(threading.local):
    """For each thread: the frames that are being compiled, innermost last, and the frame that was finished last."""

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
        for error in (exc.Unsupported, exc.UserError):
            wrap(undo, error, "__init__", self._around_init)
        wrap(undo, convert_frame.ConvertFrameAssert, "__call__", self._around_convert)
        wrap(undo, convert_frame.ConvertFrame, "__call__", self._around_convert_or_skip)
        wrap(undo, torch.export, "export", self._around_export)
        if hasattr(convert_frame, "_fullgraph_capture_frame"):
            wrap(undo, convert_frame, "_fullgraph_capture_frame", self._around_capture)
        base: Any = symbolic_convert.InstructionTranslatorBase
        owner = base if hasattr(base, "log_graph_break") else symbolic_convert  # a function in torch 2.8
        wrap(undo, owner, "log_graph_break", self._around_log)

    def forget(self) -> None:
        """In a child that was forked: drop what was recorded before. A thread of the parent may have held the lock."""
        self.lock, self._frames = threading.Lock(), _Frames()
        self.raised.clear()
        self.formatted.clear()

    def current_frame(self) -> TakenFrame | None:
        """The frame that this thread is compiling, if any."""
        return self._frames.taken[-1] if self._frames.taken else None

    def last_frame(self) -> TakenFrame | None:
        """The frame whose compilation ended last in this thread, if any."""
        return self._frames.done

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
        def init(error: Any, *args: Any, **kwargs: Any) -> None:
            original(error, *args, **kwargs)
            raised = self._remember(error.msg, _user_frames(getattr(error, "real_stack", None)), error)
            # Captures can be nested: each one stores its own record.
            error._graphbreak_raised = {**getattr(error, "_graphbreak_raised", {}), id(self): raised}

        return init

    def _around_log(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def log(*args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            reason = str(kwargs.get("reason") or next((arg for arg in args if isinstance(arg, str)), ""))
            error = kwargs.get("exc") or next((arg for arg in args if isinstance(arg, BaseException)), None)
            stack = _user_frames(kwargs.get("user_stack"))
            found = self._raised_in(error) or self._by_text(reason, stack) or [self._remember(reason, stack, error)]
            for raised in found:
                raised.became("frame skipped" if _SKIPPED in reason else "resumed")
                raised.reported = True

        return log

    def _around_convert(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """An exception that leaves the compilation of a frame is fatal, unless Dynamo is seen to skip the frame."""

        @functools.wraps(original)
        def convert(convert_self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            one_graph = getattr(convert_self, "_one_graph", False)
            taken = TakenFrame(getattr(frame, "f_code", None), callers=_callers(frame), one_graph=one_graph)
            try:
                with self._taking(taken):
                    return original(convert_self, frame, *args, **kwargs)
            finally:  # the program may ask for it only in a part of the function
                box = getattr(convert_self, "_box", None)
                taken.one_graph = taken.one_graph or bool(getattr(box, "error_on_graph_break", False))

        return convert

    def _around_capture(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is traced without being called: by a strict export, or ahead of time."""

        @functools.wraps(original)
        def capture(frame: Any, *args: Any, **kwargs: Any) -> Any:
            exported = bool(kwargs.get("_is_export_deprecated_do_not_use"))
            with self._taking(TakenFrame(frame.code, one_graph=True, exported=exported)):
                return original(frame, *args, **kwargs)

        return capture

    def _around_export(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def export(*args: Any, **kwargs: Any) -> Any:
            with self._taking(TakenFrame(None, exported=True)):
                return original(*args, **kwargs)

        return export

    @contextmanager
    def _taking(self, frame: TakenFrame) -> Iterator[None]:
        frames = self._frames
        frame.exported = frame.exported or any(one.exported for one in frames.taken)
        frames.taken.append(frame)
        try:
            yield
        except BaseException as error:
            for raised in frame.raised:
                if raised.kind == "resumed":  # in an attempt that failed
                    raised.kind = "fatal"
            for raised in self._raised_in(error) or self._failed(error):
                raised.became("fatal")
                # If the frame is skipped now, torch reports a break that has a compile id.
                raised.reported = raised.reported or hasattr(error, "compile_id")
            raise
        finally:
            frames.done = frames.taken.pop()

    def _around_convert_or_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Where breaks are allowed, a failed compilation that raises nothing has skipped its frame."""

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
        """The break that this exception, or the first one in its chain of causes, stands for; at most one."""
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            raised = getattr(error, "_graphbreak_raised", {}).get(id(self))
            if raised is not None:
                return [raised]
            error = error.__cause__ or error.__context__
        return []

    def _failed(self, error: BaseException) -> list[Raised]:
        """Record an error that ends the compilation of a frame, and that is no break. Some releases wrap a break in an
        exception of another class: its text contains the message."""
        if not isinstance(error, Exception) or isinstance(error, _CONTROL):
            return []
        frame = self.current_frame()
        if frame is not None and frame.code is None and not type(error).__module__.startswith("torch."):
            return []  # what the program itself raises while Python runs it for an export
        text = str(error)
        stack = _user_frames(getattr(error, "real_stack", None)) or _frames_in(text)
        return self._by_text(text, stack) or [self._remember(text, stack, error)]

    def _by_text(self, reason: str, stack: tuple[UserFrame, ...]) -> list[Raised]:
        """Record a break that is only in a text, without an exception. torch 2.8 logs some breaks like this."""
        messages = [message for message in self.formatted if message.strip() and message.strip() in reason]
        return [self._remember(messages[-1], stack)] if messages else []

    def _remember(self, message: str, stack: tuple[UserFrame, ...], error: BaseException | None = None) -> Raised:
        gb_type = _type_of(message, error)
        compile_id = CompileContext.current_compile_id()
        frame = self.current_frame()
        raised = Raised(
            self._parts_of(message, gb_type),
            message,
            stack,
            str(compile_id or ""),
            frame,
            is_error=error is not None and not isinstance(error, exc.Unsupported),
            columns=_columns(getattr(error, "real_stack", None)),
        )
        if frame is not None:
            frame.raised.append(raised)
            frame.asked_for = frame.exported or compile_id is not None or _called_by_wrapper()
        with self.lock:
            self.raised.append(raised)
        return raised

    def _parts_of(self, message: str, gb_type: str) -> Parts:
        """The parts of a message. A message may quote the break that caused it: its own parts come last."""
        parts = self.formatted.get(message.rpartition(_CHAINED)[2].lstrip(_RULE))
        if parts is not None and parts.gb_type == gb_type:
            return parts
        with self.lock:
            known = reversed(list(self.formatted.items()))
        own = (parts for text, parts in known if parts.gb_type == gb_type and text.strip() in message)
        return next(own, Parts(gb_type, "", "", ()))

    def captured(self, *, errors: bool) -> list[CapturedBreak]:
        """All breaks in the order in which they were first seen. Equal breaks are one, with a count."""
        found: dict[CapturedBreak, int] = {}
        for raised in self.followed():
            if raised.is_error and not errors:
                continue
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
        """All breaks that were raised, each linked to the break that it was reported as."""
        together: dict[tuple[int, str], list[Raised]] = {}
        for raised in self.raised:
            together.setdefault((id(raised.frame), raised.compile_id), []).append(raised)
        for group in together.values():
            for surfaced in reversed(group):
                if _CHAINED in surfaced.message:
                    _follow_causes(surfaced, group)
        return self.raised

    def reports(self, logged: Mapping[tuple[str, int], int]) -> Counter[tuple[str, int]]:
        """(file, line) -> how many reports of it torch's log must have, if it has those in `logged`.

        A break that ends a compilation is an exception instead. Torch may have reported it before.
        """
        found: Counter[tuple[str, int]] = Counter()
        for raised in self.followed():
            if (
                raised.kind != SWALLOWED
                and raised.reported
                and raised.surfaced_as is None
                and (stack := stack_of(raised))
            ):
                at = stack[-1].file, stack[-1].line
                found[at] += raised.kind != "fatal" or at in logged
        return found

    def id_of(self, raised: Raised) -> str:
        return self.identifier.gb_id(raised.parts.gb_type, raised.message)


def stack_of(raised: Raised) -> tuple[UserFrame, ...]:
    """The user's frames. A break before the first instruction has none: then the frame of the compiled function."""
    if raised.stack or raised.frame is None or raised.frame.code is None:
        return raised.stack
    code = raised.frame.code
    source = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return (UserFrame(file=code.co_filename, line=code.co_firstlineno, function=code.co_name, source=source),)


def _follow_causes(surfaced: Raised, group: list[Raised]) -> None:
    """Link the breaks that `surfaced` quotes as its cause, if they are at the same place. They take its kind."""
    for raised in group:
        same_place = raised.stack == surfaced.stack or not raised.stack or not surfaced.stack
        if raised is not surfaced and same_place and surfaced.message.startswith(raised.message + _CHAINED):
            raised.became(surfaced.kind)
            raised.surfaced_as = surfaced


def _type_of(message: str, error: BaseException | None) -> str:
    """The type of a break. Other errors get one from their class and the words before the first name or number."""
    lines = message.strip().removeprefix(_ADVICE).split("\n")
    if error is None or isinstance(error, exc.Unsupported):
        return str(getattr(error, "gb_type", "") or lines[0])
    words = next(filter(None, (list(itertools.takewhile(_WORD.fullmatch, line.split())) for line in lines)), [])
    sentence = next((at for at, word in enumerate(words, 1) if word.endswith(".")), len(words))
    return ": ".join(filter(None, (type(error).__name__, " ".join(words[:sentence]).rstrip(".:,"))))


def _frames_in(text: str) -> tuple[UserFrame, ...]:
    """The user's frames that torch writes below the text of an error."""
    return frames_in_text(
        max((text.rpartition(words)[2] for words in _BEFORE_FRAMES if words in text), key=len, default="")
    )


def frames_in_text(text: str) -> tuple[UserFrame, ...]:
    """All frames in a text of torch's."""
    return tuple(
        UserFrame(file=frame[1], line=int(frame[2]), function=frame[3] or "", source=source.strip())
        for line, source in itertools.pairwise([*text.splitlines(), ""])
        if (frame := FRAME.match(line))
    )


def _callers(frame: Any) -> tuple[CodeType, ...]:
    """The code of the callers. Dynamo's frame has no callers: they are on the stack of this thread."""
    found: list[CodeType] = []
    caller: FrameType | None = sys._getframe(2)
    while caller is not None and len(found) < _DEEPEST:
        if caller.f_code is not frame.f_code:
            found.append(caller.f_code)
        caller = caller.f_back
    return tuple(found)


def _called_by_wrapper() -> bool:
    """Whether the caller of the function that is being compiled is directly what torch.compile returned."""
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
    """First and last column of the expression that broke. They are known from Python 3.11 on."""
    last = stack[-1] if isinstance(stack, traceback.StackSummary) and stack else None
    start, end = getattr(last, "colno", None), getattr(last, "end_colno", None)
    return None if start is None or end is None else (start, end)
