"""Read tt-xla logs block by block. Most of a log is MLIR text, which is skipped. Dynamo's lines are read as text."""

from __future__ import annotations

import re

from repro_runner.logs.blocks import count_lines
from repro_runner.logs.model import Input, LogPart
from repro_runner.logs.text import TextReader
from repro_runner.logs.tt_xla.graphs import GraphFollower, Since
from repro_runner.logs.tt_xla.lines import (
    COMPILER,
    DIAGNOSTICS,
    END,
    EVENTS,
    HEADER,
    Line,
    find_lines,
    read_line,
)
from repro_runner.logs.tt_xla.part import MadeWith, make_part

_SIGNS = (b"torch_xla", b"tt_torch", b"pjrt_plugin_tt")
_RUNTIME_LEVEL = re.compile(rb"Runtime\w* *\| *DEBUG *\|")
_DYNAMO = b"torch/_dynamo/"
"""Every line of Dynamo's loggers and tracebacks contains this. Another thread may print them into a module."""
_LONGEST_LINE = 64 * 1024
"""A line that is split between blocks is put together again, unless it is longer."""
_LONGEST_DIAGNOSTIC = 1000
_TEXT_BLOCK = 1024 * 1024
_PENDING = 20
_ERRORS_KEPT = 1000


def recognise(head: bytes) -> bool:
    """Whether a file starts like a tt-xla log: with a line of its logger, or with lines about torch_xla.

    The first line of its logger may come late, after megabytes of Dynamo's lines. If none comes, the file is read as
    text.
    """
    if any(sign in head for sign in _SIGNS):
        return True
    return any(read_line(head[start : start + 500]) for start in find_lines(head, (b"s) [",)))


def open_reader(source: Input) -> TtXlaReader:
    """A reader for one log."""
    return TtXlaReader(source)


class TtXlaReader:
    """Reads the blocks of one log. If it is not a tt-xla log, the part has what was found in the text."""

    def __init__(self, source: Input) -> None:
        self._text = TextReader(source)
        self._held: list[bytes] = []
        self._held_size = 0
        self._graphs = GraphFollower()
        self._made = MadeWith()
        self._since = Since()
        self._line = 1
        self._rest = b""
        self._is_tt_xla = False
        self._pending: list[tuple[int, str]] = []
        """Messages of the compiler. The error line after them has the thread, and so the graph."""
        self._errors: list[tuple[int, str]] = []
        self._error_count = 0

    def feed(self, block: bytes) -> None:
        """See Reader. A block may end inside a line."""
        block = self._rest + block if self._rest else block
        end = block.rfind(b"\n") + 1
        if len(block) - end < _LONGEST_LINE:
            self._rest, block = block[end:], block[:end]
        else:
            self._rest = b""
        if block:
            self._read(block)

    def finish(self) -> LogPart:
        """See Reader."""
        if self._rest:
            self._read(self._rest)
            self._rest = b""
        for line, text in self._pending:
            self._note_error(line, text)
        self._text.feed(b"".join(self._held))
        of_text = self._text.finish()
        if not self._is_tt_xla:
            return of_text
        return make_part(of_text, self._graphs, self._made, tuple(self._errors), self._error_count)

    def _read(self, block: bytes) -> None:
        """Read the lines with events one by one, and the text between them as a whole."""
        at = 0
        for start in find_lines(block, EVENTS):
            if start > at:
                self._read_between(block[at:start])
            end = block.find(b"\n", start) + 1 or len(block)
            self._read_line(block[start:end])
            at = end
        if at < len(block):
            self._read_between(block[at:])

    def _read_between(self, text: bytes) -> None:
        newlines = count_lines(text)
        in_module = self._graphs.in_module
        if in_module:
            self._graphs.read_module(text)
        if not in_module or self._graphs.threads > 1:
            self._keep_diagnostics(text)
        if in_module and _DYNAMO not in text:
            self._feed_text(b"\n" * newlines)  # so that its line numbers stay right
        else:
            self._look_outside(text)
            self._feed_text(text)
        self._line += newlines

    def _feed_text(self, text: bytes) -> None:
        """Pass text to the text reader in large blocks, so that a message is not split into many pieces."""
        self._held.append(text)
        self._held_size += len(text)
        if self._held_size >= _TEXT_BLOCK:
            self._text.feed(b"".join(self._held))
            self._held, self._held_size = [], 0

    def _keep_diagnostics(self, text: bytes) -> None:
        number, counted = self._line, 0
        for start in find_lines(text, DIAGNOSTICS):
            number += text.count(b"\n", counted, start)
            counted = start
            line = text[start : start + _LONGEST_DIAGNOSTIC].split(b"\n")[0].decode("utf-8", "replace").strip()
            self._pending.append((number, line))
            if len(self._pending) > _PENDING:
                self._note_error(*self._pending.pop(0))

    def _look_outside(self, text: bytes) -> None:
        self._since.look_at(text)
        self._made.dynamo = self._made.dynamo or self._since.frames > 0
        self._made.runtime_level = self._made.runtime_level or _RUNTIME_LEVEL.search(text) is not None
        if not (self._made.stages or self._made.debug_level):
            for header in HEADER.finditer(text):
                self._is_tt_xla = True
                self._made.debug_level = self._made.debug_level or header[3].isdigit()

    def _read_line(self, text: bytes) -> None:
        line = read_line(text)
        if line is not None:
            self._read_logged(line)
        elif END in text:
            self._graphs.end_stage()
        self._feed_text(text)
        self._line += text.count(b"\n")

    def _read_logged(self, line: Line) -> None:
        self._is_tt_xla = True
        self._made.debug_level = self._made.debug_level or line.level.isdigit()
        if line.stage:
            self._made.stages = True
            if self._graphs.begin_stage(line.thread, line.stage, self._line, self._since):
                self._since = Since()
        elif line.level in {"ERR", "FATL"}:
            # An error of any other file may be about any graph, or about none.
            graph = self._graphs.of_thread(line.thread) if line.file.endswith(COMPILER) else None
            for number, text in (*self._pending, (self._line, line.text)):
                self._note_error(number, text)
                if graph is not None:
                    graph.add_error(number, text)
            self._pending.clear()

    def _note_error(self, line: int, text: str) -> None:
        self._error_count += 1
        if len(self._errors) < _ERRORS_KEPT:
            self._errors.append((line, text))
