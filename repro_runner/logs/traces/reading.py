"""Read structured traces block by block, and collect what each process compiled."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from registry.matching import Match, Matcher
from registry.message_layout import EXCEPTIONS, FROM_USER_CODE
from registry.messages import unlabelled
from repro_runner.capture.breaks import UserFrame, plain_name
from repro_runner.logs.traces.compilations import Compilation, ProcessTrace, TraceBreak
from repro_runner.logs.traces.records import HEADER, Damage, RecordReader, TraceRecord

_SKIPPED = "Skipping the function and falling back to eager"
"""From torch 2.13 on this text is in the reason. In older releases the compilation fails instead."""
_INTERNAL_STACK = "\nTraceback (most recent call last):"
_USER_STACKS = tuple(f"{words}\n" for words in reversed(FROM_USER_CODE))
_FRAME = re.compile(r'\s*File "([^"\n]*)", line (\d{1,9}), in ([^\n]*)(?:\n(?!\s*File ")([^\n]*))?')
_REMEMBERED = 512
"""How many texts are cached with their match. Every compilation repeats the texts of its breaks."""
_LIMIT = "GB0039"
_NEVER_SUPPRESSED = re.compile(r"^(?:torch\._dynamo\.exc\.)?UncapturedHigherOrderOpError:")
"""A break inside torch.cond and similar functions ends the program, even with `suppress_errors`."""
_MOST_STRINGS = 1_000_000


class _BreakReader:
    """Finds the ids of breaks with a matcher. Each text is matched only once."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known: OrderedDict[tuple[str, str], Match | None] = OrderedDict()

    def read_reason(self, payload: str, torch: str) -> tuple[Match | None, str, tuple[UserFrame, ...]]:
        """Read the text of a logged break. Returns (match, kind according to the text, the user's stack)."""
        message = payload.partition(_INTERNAL_STACK)[0]
        kind = "frame skipped" if _SKIPPED in message else "resumed"
        return self.name(message, torch), kind, _read_stack(message)

    def name(self, message: str, torch: str) -> Match | None:
        """The match for the break in a message; None if the message is not about a break."""
        key = (message, torch)
        if key not in self._known:
            found = self._matcher.find_messages(message.split("\n"), torch=torch.partition("+")[0] or None)
            self._known[key] = next(iter(found), None)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]


def _read_stack(text: str) -> tuple[UserFrame, ...]:
    """The user's frames in a break's text, outermost first; empty if there are none."""
    for title in _USER_STACKS:
        _, found, after = text.partition(title)
        if found:
            stack = after.partition("\n\n")[0]
            return tuple(
                UserFrame(file=frame[1], line=int(frame[2]), function=frame[3].strip(), source=(frame[4] or "").strip())
                for frame in _FRAME.finditer(stack)
            )
    return ()


def recognise(head: bytes) -> bool:
    """Whether one of the first lines is a record of a trace."""
    lines = head.split(b"\n", 200)[:200]
    return any(HEADER.match(line) for line in lines if not line.startswith(b"\t"))


class TraceReader:
    """Reads one file. It may contain the traces of several processes, one after the other or mixed."""

    def __init__(self, matcher: Matcher, *, torch: str = "") -> None:
        self._torch = torch
        self._records = RecordReader()
        self._breaks = _BreakReader(matcher)
        self._processes: list[_Process] = []
        self._of_rank: dict[tuple[int, int], _Process] = {}
        self._of_pid: dict[int, _Process] = {}

    @property
    def damage(self) -> Damage:
        return self._records.damage

    def feed(self, block: bytes) -> None:
        """Read a block. It may end anywhere."""
        self._take(self._records.feed(block))

    def finish(self) -> tuple[ProcessTrace, ...]:
        """The traces of all processes in the file, ordered by rank."""
        self._take(self._records.finish())
        for process in self._processes:
            process.finish()
        traces = [process.trace for process in self._processes]
        return tuple(sorted(traces, key=lambda trace: (trace.rank is None, trace.rank or 0, trace.pid)))

    def _take(self, records: Iterator[TraceRecord]) -> None:
        for record in records:
            self._process_of(record).read(record)

    def _process_of(self, record: TraceRecord) -> _Process:
        """The process that wrote a record. Its first records may have no rank, because it did not have one yet."""
        last = self._of_pid.get(record.pid)
        if record.rank is None:
            process = last or self._new_process(record.pid)
        else:
            key = (record.pid, record.rank)
            unranked = last if last and last.trace.rank is None else None
            process = self._of_rank.get(key) or unranked or self._new_process(record.pid)
            process.trace.rank = record.rank
            self._of_rank[key] = process
        self._of_pid[record.pid] = process
        return process

    def _new_process(self, pid: int) -> _Process:
        process = _Process(ProcessTrace(pid=pid, torch=self._torch), self._breaks)
        self._processes.append(process)
        return process


class _Process:
    """Collects the records of one process."""

    def __init__(self, trace: ProcessTrace, breaks: _BreakReader) -> None:
        self.trace = trace
        self._breaks = breaks
        self._strings: dict[int, str] = {}
        self._errors: dict[str, str] = {}
        """Errors by compile id, until the metrics of the compilation arrive."""

    def read(self, record: TraceRecord) -> None:
        match record.kind:
            case "str":
                self._intern(record.metadata["str"])
            case "torch_version":
                self._read_version(record.payload)
            case "dynamo_start":
                self._start(record)
            case "dynamo_output_graph":
                self._compilation(record).graphs += 1
            case "recompile_reasons":
                self._compilation(record).guard = _read_guards(record.payload)
            case "dynamo_graph_break_reason":
                self._add_break(record)
            case "dynamo_error":
                self._errors[_compile_id(record.metadata)] = record.payload
            case "compilation_metrics":
                self._read_metrics(record)

    def finish(self) -> None:
        """Add the errors of compilations whose metrics are not in the trace."""
        for compile_id, error in self._errors.items():
            compilation = self.trace.compilations.setdefault(compile_id, Compilation(compile_id=compile_id))
            self._fail(compilation, error.partition(f"\n{FROM_USER_CODE[0]}")[0], error, line=0, suppressed=False)
        self._errors.clear()

    def _compilation(self, record: TraceRecord) -> Compilation:
        compile_id = _compile_id(record.metadata)
        return self.trace.compilations.setdefault(compile_id, Compilation(compile_id=compile_id))

    def _intern(self, entry: object) -> None:
        match entry:
            case [str(text), int(number)] if len(self._strings) < _MOST_STRINGS:
                self._strings[number] = text

    def _read_version(self, payload: str) -> None:
        version = _json_or_none(payload)
        if isinstance(version, dict):
            self.trace.torch = str(version.get("pytorch_version", ""))

    def _start(self, record: TraceRecord) -> None:
        compilation = self._compilation(record)
        start = record.metadata["dynamo_start"]
        stack = start.get("stack") if isinstance(start, dict) else None
        if isinstance(stack, list) and stack and isinstance(frame := stack[-1], dict):
            file = frame.get("filename", "")
            compilation.file = self._strings.get(file, "") if isinstance(file, int) else str(file)
            compilation.function = str(frame.get("name", ""))
            compilation.line = _as_int(frame.get("line"))

    def _add_break(self, record: TraceRecord) -> None:
        match, kind, stack = self._breaks.read_reason(record.payload, self.trace.torch)
        if match is None:  # the wording is unknown, but torch called it a break: keep the whole text
            match = Match(gb_ids=(), how="none", message=unlabelled(record.payload))
        compilation = self._compilation(record)
        found = TraceBreak(match=match, kind=kind, stack=_from_compiled(stack, compilation), line=record.line)
        if all((found.gb_ids, found.place) != (known.gb_ids, known.place) for known in compilation.breaks):
            compilation.breaks.append(found)

    def _read_metrics(self, record: TraceRecord) -> None:
        metrics = record.metadata["compilation_metrics"]
        if not isinstance(metrics, dict):
            return
        compilation = self._compilation(record)
        if not compilation.file and metrics.get("co_filename"):
            compilation.file = str(metrics["co_filename"])
            compilation.function = str(metrics.get("co_name") or "")
            compilation.line = _as_int(metrics.get("co_firstlineno"))
        if isinstance(ops := metrics.get("graph_op_count"), int):
            compilation.ops = (compilation.ops or 0) + ops
        if (seconds := _seconds(metrics)) is not None:
            compilation.seconds = (compilation.seconds or 0.0) + seconds
        if not compilation.guard and isinstance(guard := metrics.get("recompile_reason"), str):
            compilation.guard = _first_guard(guard)
        self.trace.torch = self.trace.torch or str(metrics.get("pytorch_version") or "")
        error = self._errors.pop(compilation.compile_id, "")
        if metrics.get("fail_type"):
            reason = f"{metrics['fail_type']}: {metrics.get('fail_reason') or ''}"
            stack = error if FROM_USER_CODE[0] in error else _stack_text(metrics)
            suppressed = metrics.get("config_suppress_errors") is True and not _NEVER_SUPPRESSED.search(reason)
            self._fail(compilation, reason, stack, line=record.line, suppressed=suppressed)

    def _fail(self, compilation: Compilation, reason: str, stack: str, *, line: int, suppressed: bool) -> None:
        """Note why a compilation failed: a break that was logged, a break that was not, or another error."""
        name = reason if EXCEPTIONS in reason else f"{EXCEPTIONS}{reason}"
        match = self._breaks.name(name, self.trace.torch)
        if match is None:
            kept = [text for text in reason.strip().split("\n") if text]
            compilation.failure = kept[-1] if line == 0 and kept else kept[0] if kept else "unknown"
            return
        logged = [number for number, known in enumerate(compilation.breaks) if known.match.gb_ids == match.gb_ids]
        if logged:
            compilation.breaks[logged[-1]] = replace(compilation.breaks[logged[-1]], kind="frame skipped")
            return
        # Past the limit of recompiles a function is left to Python, unless torch raises an error of its own.
        past_limit = match.gb_id == _LIMIT and reason.startswith("Unsupported")
        if not compilation.file:
            self._take_function(compilation)
        kind = "frame skipped" if suppressed or past_limit else "fatal"
        frames = _stack_or_function(stack, compilation)
        compilation.breaks.append(TraceBreak(match=match, kind=kind, stack=frames, line=line))

    def _take_function(self, compilation: Compilation) -> None:
        """A compilation that fails at once does not name its function. Earlier ones of the same frame do."""
        frame = compilation.compile_id.partition("/")[0]
        for other in self.trace.compilations.values():
            if other.file and other.compile_id.partition("/")[0] == frame:
                compilation.file, compilation.line, compilation.function = other.file, other.line, other.function
                return


def _from_compiled(stack: tuple[UserFrame, ...], compilation: Compilation) -> tuple[UserFrame, ...]:
    """The stack from the compiled frame on. torch writes the whole stack of the program."""
    names = {compilation.function, plain_name(compilation.function)}
    for depth in range(len(stack) - 1, -1, -1):
        if stack[depth].file == compilation.file and stack[depth].function in names:
            return stack[depth:]
    return stack


def _stack_or_function(text: str, compilation: Compilation) -> tuple[UserFrame, ...]:
    """The user's frames in a text. If there are none, the compiled function is the only frame."""
    frame = UserFrame(file=compilation.file, line=compilation.line, function=compilation.function, source="")
    return _read_stack(text) or ((frame,) if compilation.file else ())


def _stack_text(metrics: dict[str, Any]) -> str:
    """The place of the failure in the metrics, written as a stack; empty if it is not known."""
    file, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
    function = metrics.get("co_name") or ""
    return f'{FROM_USER_CODE[0]}\n  File "{file}", line {line}, in {function}\n' if file and line else ""


def _compile_id(metadata: dict[str, Any]) -> str:
    frame = f"{metadata.get('frame_id', '-')}/{metadata.get('frame_compile_id', '-')}"
    autograd = metadata.get("compiled_autograd_id")
    return f"!{autograd}/{frame}" if autograd is not None else frame


def _seconds(metrics: dict[str, Any]) -> float | None:
    if isinstance(seconds := metrics.get("entire_frame_compile_time_s"), (int, float)):
        return float(seconds)
    duration = metrics.get("duration_us")
    return duration / 1e6 if isinstance(duration, int) and not metrics.get("is_runtime") else None


def _read_guards(payload: str) -> str:
    """The first guard of the newest cache entry. torch lists all entries whose guards failed, the newest first."""
    reasons = _json_or_none(payload)
    if isinstance(reasons, list) and reasons:
        return _first_guard(str(reasons[0]))
    return _first_guard(reasons if isinstance(reasons, str) else payload)


def _first_guard(reason: str) -> str:
    """Remove the entry and the padding from `2/0: factor == 2      # return x * factor  # model.py:21 in grow`."""
    first = reason.strip().split("\n", 1)[0]
    return re.sub(r" {2,}", "  ", re.sub(r"^[!\d/]+: ", "", first))


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_int(value: object) -> int:
    return value if isinstance(value, int) else 0
