"""Make a site from a message in a text log: its surrounding lines, its kind, and whether it was only mentioned."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Generic, TypeVar

from registry.matching import Match
from registry.message_layout import COLOUR, GIVEN_UP, GRAPH_BREAKS, HEADER, PREFIX, REASON, Header, read_line
from repro_runner.capture.breaks import plain_name
from repro_runner.explain.site import Site
from repro_runner.logs.model import Input

_RANK = re.compile(r"\[(?:rank|default)([0-9]{1,9})\]")
_RECORDS = 4096
_TRACEBACKS = 256

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_COMPILE_ID = re.compile(r"\[(!?[0-9][0-9/]*)(?:_[0-9]+)?\]")
_LEFT_TO_PYTHON = ("falling back to eager", "Skipping the frame", "Skipping the function")
_GRAPH_BREAKS = f"[{GRAPH_BREAKS}]"
_COMPILING = "COMPILING GRAPH due to"
_STACK = "Graph break: from user code at:"  # in the warning about `Tensor.item()`
_LAST_FRAME = re.compile(rf'{_STACK}\n(?:.*\n)* *File "(.+)", line ([0-9]+), in (.+)\n *(.*)')
_STACK_LINES = 300
_LONGEST = 100_000
"""How many characters of a message are kept. torch's longest messages have some thousands."""
_KEPT = 1000
"""With more mentions than this, those of reported breaks are dropped."""


class Recent(OrderedDict[Key, Value], Generic[Key, Value]):
    """A dict that drops its oldest entry when it has more than `most`, because a log may be endless."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: Key, value: Value) -> None:
        self[key] = value
        if len(self) > self._most:
            self.popitem(last=False)


class Surroundings:
    """Collects ranks and tracebacks from the lines around messages, and answers questions about them."""

    def __init__(self) -> None:
        self._chained_at: deque[int] = deque(maxlen=_TRACEBACKS)
        """The numbers of the lines between two chained tracebacks."""
        self._tracebacks: deque[int] = deque(maxlen=_TRACEBACKS)
        self._ranks: Recent[str, str] = Recent(_RECORDS)
        self._given_up: Recent[str, tuple[str, int, str]] = Recent(_RECORDS)
        self._stacks: Recent[str, str] = Recent(_RECORDS)
        self.stack_until = 0
        """Up to this line, a stack may go on; its lines have none of torch's words."""

    def look_at(self, number: int, header: Header, text: str) -> None:
        """Collect what a line contains, or a run of lines of a record without its header."""
        if "\x1b" in text:
            text = COLOUR.sub("", text)
        if number <= self.stack_until or _STACK in text:
            self._read_stacks(number, header, text)
        given_up, chained, tracebacks = _noted(text)
        if given_up:
            self._given_up.keep(header.record or read_line(text)[0], given_up)
        self._chained_at.extend(number + at for at in chained)
        self._tracebacks.extend(number + at for at in tracebacks)
        start = (header.text or text)[:64]
        if "[" in start and (prefix := PREFIX.match(header.text or text)) and (rank := _RANK.search(prefix[0])):
            self._ranks.keep(header.record or read_line(text)[0], rank[1])

    def _read_stacks(self, number: int, header: Header, text: str) -> None:
        for line in text.split("\n"):
            record, body = read_line(header.text + line)
            if body == _STACK:
                self._stacks.keep(record, "")
                self.stack_until = number + _STACK_LINES
            if record in self._stacks:
                self._stacks[record] += body + "\n"

    def are_chained(self, first: int, second: int) -> bool:
        """Whether the exception at line `second` is chained to the exception at line `first`."""
        link = max((number for number in self._chained_at if first < number < second), default=0)
        return bool(link) and sum(link < number < second for number in self._tracebacks) <= 1

    def rank(self, record: str) -> str:
        """The rank of the process that wrote a record; empty if unknown."""
        found = _RANK.search(record)
        return found[1] if found else self._ranks.get(record, "")

    def given_up(self, record: str) -> tuple[str, int, str]:
        """(file, line, function) of the frame that Dynamo skips according to this record."""
        return self._given_up.get(record, ("", 0, ""))

    def placed(self, one: Site, record: str) -> Site:
        """A mentioned break at the last frame of the stack in its record. Without a stack, it stays as it is."""
        if not (frame := _LAST_FRAME.match(self._stacks.get(record, ""))):
            return one
        return replace(one, file=frame[1], line=int(frame[2]), function=plain_name(frame[3]), source=frame[4])


@lru_cache(256)  # the same report comes again and again
def _noted(text: str) -> tuple[tuple[str, int, str] | None, list[int], list[int]]:
    """(file, line, function) that is given up, and the lines, from 0, between tracebacks and at their start."""
    lines = text.split("\n")
    given_up = None
    if "WON'T CONVERT" in text or "will skip tracing" in text:
        for found in GIVEN_UP.finditer(text):
            given_up = found[2], int(found[3]), found[1]
    chained = [at for at, line in enumerate(lines) if "above exception" in line]
    return given_up, chained, [at for at, line in enumerate(lines) if "Traceback (most" in line]


@lru_cache(16)
def is_of_torch(record: str) -> bool:
    """Whether a record was written by one of torch's loggers. Otherwise it is only a rank, or empty."""
    return HEADER.match(record) is not None


def is_report(match: Match) -> bool:
    """Whether torch reports here that a graph broke. Everything else is an exception or mentions a break."""
    reason = match.opening.startswith(REASON)
    return reason or (_GRAPH_BREAKS in match.record and not _is_bare(match))


def is_mention(match: Match) -> bool:
    """Whether this is in a record about something else, or is a link without a message. A report may be elsewhere."""
    return is_of_torch(match.record) or _is_bare(match)


def mentioning_record(match: Match) -> str:
    """The record that contains a mention; empty outside of records, and for a line that quotes several records."""
    return match.record if is_of_torch(match.record) and _GRAPH_BREAKS not in match.record else ""


def _is_bare(match: Match) -> bool:
    return not (match.opening or match.message.explanation or match.message.context)


def compile_ids(match: Match) -> tuple[str, ...]:
    """The compilation in which it was reported, if its record says so."""
    found = _COMPILE_ID.search(match.record)
    return (found[1],) if found else ()


def read_break(match: Match, source: Input, around: Surroundings) -> Site:
    """The site of one report."""
    chain = [one for one in match.chain if one.gb_ids]
    cause = match.chain[0]
    file, _, line = match.message.location.rpartition(":")
    known = file, int(line) if line.isdecimal() else 0, plain_name(match.message.function)
    given_up = around.given_up(match.record) if is_of_torch(match.record) else ("", 0, "")
    place = known if line.isdecimal() else given_up
    rank = around.rank(match.record) or source.rank
    return Site(
        gb_ids=tuple(dict.fromkeys(one.gb_ids[0] for one in chain)),
        gb_types=tuple({one.gb_ids[0]: one.message.gb_type for one in chain}.values())
        or (cause.message.gb_type or (match.form.text if match.form else ""),),
        candidates=tuple(dict.fromkeys(gb_id for one in chain for gb_id in one.gb_ids[1:])),
        how=cause.how,
        gone=match.form.gone if match.form else "",
        worded_by=match.form.releases if match.form else "",
        kind="frame skipped" if given_up[0] else _kind(match),
        file=place[0],
        line=place[1],
        function=place[2],
        source=match.message.source,
        message=_whole_message(match),
        explanation=cause.message.explanation,
        hints=cause.message.hints,
        context=cause.message.context,
        ranks={rank: 1} if rank else {},
        compile_ids=compile_ids(match),
        log=source.log,
        log_line=match.line,
    )


def _whole_message(match: Match) -> str:
    text = "\n\n".join(one.message.text for one in match.chain)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [… {len(text) - _LONGEST} more characters]"


def _kind(match: Match) -> str:
    """What became of the break. An exception is fatal. If a logger printed it, Dynamo skipped the frame. A report
    contains it in its reason."""
    if is_report(match):
        said = match.opening + match.message.explanation
        return "frame skipped" if any(words in said for words in _LEFT_TO_PYTHON) else "resumed"
    if is_of_torch(match.record):
        return "resumed" if _COMPILING in match.message.text else "frame skipped" if match.opening else ""
    return "fatal" if match.opening else ""


class MentionedBreaks:
    """Keeps breaks that were only mentioned, until the end shows which of them the log does not report.

    torch logs some breaks twice: +dynamo repeats a break when it compiles the graph before it, or skips the frame.
    """

    def __init__(self) -> None:
        self._reported: set[tuple[str, str]] = set()
        """(id or type, compile id) of every reported break, and also (id or type, "")."""
        self._raised: set[str] = set()
        self._mentioned: dict[tuple[str, ...], Site] = {}
        self._most = _KEPT

    def mark_reported(self, one: Site) -> None:
        """Note that a break was reported or raised. An exception has no compile id, so it covers all of them."""
        for name in _ids_or_types(one):
            self._reported.add((name, ""))
            self._reported.update((name, compile_id) for compile_id in one.compile_ids)
            if not one.compile_ids:
                self._raised.add(name)

    def add(self, one: Site, record: str) -> None:
        """Add a mention, in a record or outside of one. If a record mentions several breaks, the last one counts."""
        key = (record,) if record else ("", *one.gb_ids, *one.gb_types)
        before = self._mentioned.get(key)
        if before:
            one = replace(one, compiled=1 if record else before.compiled + 1, log_line=before.log_line)
        self._mentioned[key] = one
        if len(self._mentioned) > self._most:
            self._mentioned = {key: one for key, one in self._mentioned.items() if not self._is_reported(one)}
            self._most = max(_KEPT, 2 * len(self._mentioned))

    def forget(self, match: Match) -> bool:
        """Whether a mention is one of a break that was reported before; nothing is kept of its record then."""
        if not self._has(match.gb_ids[:1], compile_ids(match)):
            return False
        self._mentioned.pop((mentioning_record(match),), None)
        return True

    def unreported(self, around: Surroundings) -> Iterator[Site]:
        """The mentioned breaks that the log does not report."""
        return (around.placed(one, key[0]) for key, one in self._mentioned.items() if not self._is_reported(one))

    def _is_reported(self, one: Site) -> bool:
        return self._has(_ids_or_types(one), one.compile_ids)

    def _has(self, names: tuple[str, ...], in_compilations: tuple[str, ...]) -> bool:
        compile_id = in_compilations[0] if in_compilations else ""
        return any(name in self._raised or (name, compile_id) in self._reported for name in names)


def _ids_or_types(one: Site) -> tuple[str, ...]:
    return one.gb_ids or one.gb_types
