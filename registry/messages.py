"""Messages in text: cut them out of a log, and take one apart as torch puts it together."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from registry.message_layout import (
    ATTRIBUTION,
    BREAK_EXCEPTIONS,
    CHAIN,
    CONTEXT,
    ENDINGS,
    EXPLANATION,
    FIELD_INDENT,
    FRAME,
    FROM_USER_CODE,
    FUNCTION,
    HEADER,
    HINT,
    LABEL,
    LINK,
    LINK_SIGN,
    LOCATION,
    MARKER,
    OPERATOR,
    REASON,
    Header,
    has_form_sign,
    has_sign,
    names_reason,
    read_line,
    strip_markers,
)

OPEN_RECORDS = 64
"""Log records followed at the same time: processes and threads that write into one log interleave."""
LINES_IN_MESSAGE = 2000
BATCH = 64
"""Lines looked at together when nothing is open: a reader of a pipe waits for that many."""
FOREIGN_LINES = 8
"""Lines of something else, such as a print to the same terminal, that may interrupt a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """One message, split as torch put it together; what is not there is empty."""

    gb_type: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""
    link: str = ""
    """The id in the printed link, "GB0033"."""
    higher_order_operator: str = ""
    location: str = ""
    """file:line of the user's code."""
    function: str = ""
    source: str = ""
    """That line itself, where the user's stack is printed with the message."""
    text: str = ""
    causes: tuple[ParsedMessage, ...] = ()
    """Earlier breaks that surfaced as this one (a break in a loop), first cause first."""


def parse_message(text: str) -> ParsedMessage:
    """Split one message as torch formats it; for a text in another layout, its first line is the gb_type."""
    for draft in find_drafts(split_lines(text)):
        return replace(draft.message, text=text)
    return unlabelled(text)


@dataclass(slots=True)
class Draft:
    """A message being read; finished ones leave as they are."""

    line: int
    certain: bool
    """Only torch writes like this: worth keeping even if nobody knows it."""
    record: str = ""
    """The logger's header in front of it, else who wrote it, such as a rank; empty where nothing tells."""
    opening: str = ""
    """The line with torch's marker, "Graph Break Reason: …": it tells what became of the break."""
    marked: bool = False
    """The marker says that torch's reason for a break follows."""
    gb_type: str = ""
    link: str = ""
    operator: str = ""
    location: str = ""
    function: str = ""
    source: str = ""
    text: str = ""
    """Of a message without fields."""
    indent: int = 0
    fields: list[tuple[str, list[str]]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    foreign: int = 0
    message: ParsedMessage = field(default_factory=ParsedMessage)
    """All of it, when it is finished."""

    def add_field(self, name: str, text: str) -> None:
        self.fields.append((name, [text]))
        self.certain = self.certain or name == CONTEXT

    def add_line(self, body: str) -> bool:
        """Take a line that goes on with the last field; say whether it did."""
        indent = len(body) - len(body.lstrip())
        stripped_layout = self.indent == 0 and self.fields[-1][0] != CONTEXT
        if body.strip() and indent <= self.indent and not stripped_layout:
            return False
        if len(self.bodies) < LINES_IN_MESSAGE:
            by_torch = self.indent + FIELD_INDENT
            self.fields[-1][1].append(body[by_torch:] if indent >= by_torch or not body.strip() else body.lstrip())
            self.bodies.append(body)
        return True

    def finish(self, causes: Iterable[ParsedMessage] = ()) -> Draft:
        values: dict[str, list[str]] = {}
        for name, lines in self.fields:
            values.setdefault(name, []).append("\n".join(lines).strip())
        self.message = ParsedMessage(
            gb_type=self.gb_type,
            explanation="\n".join(values.get(EXPLANATION, ())),
            hints=tuple(values.get(HINT, ())),
            context="\n".join(values.get(CONTEXT, ())),
            link=self.link,
            higher_order_operator=self.operator,
            location=self.location,
            function=self.function,
            source=self.source,
            text="\n".join(self.bodies).strip("\n") if self.fields else self.text,
            causes=tuple(causes),
        )
        return self


class _Record:
    """Reads one log record, or everything outside of records, line by line."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.last = ""
        self.location = ""
        self.operator = ""
        self.reason: Draft | None = None
        """A line that names a reason, until its explanation comes or does not."""
        self.draft: Draft | None = None
        self.ended = False
        self.stack_indent: int | None = None
        """Within the user's stack, how far the line above it is indented."""
        self.aside = False
        """Within lines that look like the user's stack, and are not."""
        self.located = False
        """Whether the place was known before the stack."""
        self.frame = ""
        """Within the user's stack, file:line of the frame whose source comes next."""
        self.chain: list[Draft] = []

    @property
    def busy(self) -> bool:
        return bool(self.draft or self.chain)

    def read(self, body: str, number: int) -> Iterator[Draft]:
        text = body.strip()
        if not text:
            if self.draft and not self.ended:
                self.draft.add_line("")
            return
        indent = len(body) - len(body.lstrip())
        waiting = self.draft or self.reason
        if waiting and self.stack_indent is not None:
            if indent > self.stack_indent:
                if not self.aside:
                    self._read_stack(waiting, body)
                return
            if self.aside and text.startswith(FROM_USER_CODE):
                self.stack_indent, self.aside = None, False
            else:
                yield from self.close()
                waiting = None
        label = LABEL.match(body)
        if label and not (self.ended and label[1] != EXPLANATION):
            yield from self._read_label(label, body, number)
        elif text == CHAIN:
            self._keep_as_cause()
        elif waiting and text == ATTRIBUTION:
            self.stack_indent, self.aside = indent, True
        elif waiting and text.startswith(FROM_USER_CODE):
            self.stack_indent, self.located = indent, bool(waiting.location)
        elif LINK_SIGN in text and ((links := LINK.findall(text)) or self.draft):
            yield from self._read_links(links, body, number)
        else:
            yield from self._read_text(body, text, number)

    def _read_stack(self, waiting: Draft, body: str) -> None:
        """Take a line of the user's stack: the innermost frame is the place, unless the message named it before."""
        if frame := FRAME.match(body):
            self.frame = f"{frame[1]}:{frame[2]}"
            if not self.located or self.frame == waiting.location:
                waiting.location, waiting.function = self.frame, frame[3] or ""
                waiting.source = (frame[4] or "").strip()
        elif self.frame:
            if self.frame == waiting.location and not waiting.source:
                waiting.source = body.strip()
            self.frame = ""

    def _read_label(self, label: re.Match[str], body: str, number: int) -> Iterator[Draft]:
        name, rest = label[1], body[label.end() :]
        if name == OPERATOR:
            self.operator = rest.strip()
            return
        headless = self.draft is None and name == CONTEXT
        if name == EXPLANATION or headless:
            gb_type = "" if headless else strip_markers(self.last)
            reason, self.reason = self.reason, None
            if reason and not reason.gb_type.endswith(":") and reason.gb_type != gb_type:
                yield reason.finish()  # no preamble ("Graph break encountered:") of this one, but a message of its own
                reason = None
            causes = [*self.chain] if self.draft is None else []
            if not causes:
                yield from self.close()
            self.chain = causes
            self.draft = Draft(
                line=reason.line if reason else number,
                certain=reason is not None and reason.certain,
                record=self.key,
                opening=reason.opening if reason else self._marked_line(),
                gb_type=gb_type,
                operator=self.operator,
                location=self.location,
                indent=len(body) - len(body.lstrip()),
                bodies=[gb_type] if gb_type else [],
            )
            self.operator, self.ended = "", False
        if self.draft:
            self.draft.bodies.append(body)
            self.draft.foreign = 0
            self.draft.add_field(name, rest)

    def _marked_line(self) -> str:
        """The line before, if it has a marker that colours hid: nothing looked like one of torch's lines then."""
        return self.last.strip() if MARKER.search(self.last) else ""

    def _read_links(self, links: list[str], body: str, number: int) -> Iterator[Draft]:
        if self.draft and not self.ended:
            self.draft.link = links.pop(0).upper() if links else ""
            self.draft.bodies.append(body)
            self.draft.certain = self.ended = True
        text = body.strip()  # once: a line may hold megabytes, and thousands of links
        for link in links:
            yield Draft(line=number, certain=True, record=self.key, link=link.upper(), text=text).finish()

    def _read_text(self, body: str, text: str, number: int) -> Iterator[Draft]:
        if self.ended or text.startswith(ENDINGS):
            yield from self.close()
        if self.draft and not self._starts_anew(body) and self.draft.add_line(body):
            self.last = body
            return
        if place := LOCATION.match(body):
            yield from self.close()
            self.location = place[1]
        elif marker := MARKER.search(body):
            yield from self.close()
            by_torch = body[marker.start() :].startswith(REASON) or (marker[1] or marker[2]) in BREAK_EXCEPTIONS
            certain = by_torch or self.location != ""  # before torch 2.7: "Graph break in user code at …", "Reason: …"
            reason = body[marker.end() :].strip()
            self._wait(reason, number, certain=certain, opening=text, marked=names_reason(marker))
        elif has_form_sign(body) and not self._introduced():
            yield from self.close()
            self._wait(text, number, certain=False)
        elif self.draft or self.reason:
            yield from self._read_foreign(body)
        self.last = body

    def _introduced(self) -> bool:
        """Whether this line is what a reason before it introduces: "Graph break encountered:", then an error's text."""
        return self.reason is not None and self.reason.gb_type.endswith(":") and not any(self.reason.bodies)

    def _wait(self, reason: str, number: int, *, certain: bool, opening: str = "", marked: bool = False) -> None:
        """Take a line that names a reason; what follows may explain it."""
        self.reason = Draft(
            line=number,
            certain=certain,
            record=self.key,
            opening=opening,
            marked=marked,
            gb_type=strip_markers(reason),
            location=self.location,
            text=reason,
        )

    def _starts_anew(self, body: str) -> bool:
        """In a text that lost its indentation, a marker is all that tells the next message from this one."""
        if self.draft is None or len(body) - len(body.lstrip()) > self.draft.indent:
            return False
        return LOCATION.match(body) is not None or MARKER.match(body.lstrip()) is not None

    def _read_foreign(self, body: str) -> Iterator[Draft]:
        if self.reason:
            self.reason.bodies.append(body)
            if place := FUNCTION.match(body):
                self.reason.function, self.reason.location = place[1], place[2]
        waiting = self.draft or self.reason
        if waiting:
            waiting.foreign += 1
            if waiting.foreign > FOREIGN_LINES:
                yield from self.close()

    def _keep_as_cause(self) -> None:
        if self.draft:
            self.chain.append(self.draft.finish())
            self.draft, self.ended = None, False

    def close(self) -> Iterator[Draft]:
        """Give what was read so far, and start anew."""
        drafts = [*self.chain, *([self.draft] if self.draft else [])]
        if drafts:
            *causes, final = drafts
            final.opening = drafts[0].opening
            yield final.finish(cause.message for cause in causes)
        elif self.reason:
            yield self.reason.finish()
        if drafts or self.reason:
            self.location = ""
        self.chain, self.draft, self.reason = [], None, None
        self.ended, self.stack_indent, self.aside, self.frame = False, None, False, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Lines of one record that stand together, without its header, and what they give if it has no others."""

    text: str
    before: str
    """The line before them, if it is of the same record."""
    signed: bool
    """Whether the header alone looks like torch's words."""
    found: tuple[Draft, ...]
    unfinished: tuple[Draft, ...]
    """What only the end of the record ends."""
    explained_until: int
    """The last line, counted from 0, that may explain a reason given in them; -1 if there is none."""
    passed_over: str | None
    """Their last line, if it was not needed."""
    started: bool
    """Whether anything in them looks like torch's words."""


@lru_cache(256)  # a break in a loop or in a layer is reported again and again
def _read_run(text: str, before: str, signed: bool) -> _Run:
    """Read lines as a DraftReader does one by one."""
    record = _Record("")
    found, explained_until, passed_over = _read_lines(record, text, before, signed)
    return _Run(
        text=text,
        before=before,
        signed=signed,
        found=tuple(found),
        unfinished=tuple(record.close()),
        explained_until=explained_until,
        passed_over=passed_over,
        started=has_sign(text),
    )


def _read_lines(
    record: _Record, text: str, before: str, signed: bool, number: int = 0
) -> tuple[list[Draft], int, str | None]:
    found: list[Draft] = []
    explained_until, passed_over = -1, None
    record.last, started = before, False
    for at, body in enumerate(split_lines(text), number):
        if (started and (signed or at <= explained_until)) or has_sign(body):
            started, passed_over = True, None
            found += record.read(body, at)
            if record.reason and record.reason.line == at:
                explained_until = at + FOREIGN_LINES
        else:
            record.last = passed_over = body
    return found, explained_until, passed_over


@dataclass(slots=True)
class _ReadRecord:
    """A record of which one run has come; should more of it come, it is read again, line by line."""

    key: str
    number: int
    run: _Run

    def close(self) -> Iterator[Draft]:
        return self.placed(self.run.unfinished)

    def placed(self, drafts: Iterable[Draft]) -> Iterator[Draft]:
        for draft in drafts:
            yield Draft(
                line=draft.line + self.number,
                certain=draft.certain,
                record=self.key,
                opening=draft.opening,
                marked=draft.marked,
                fields=draft.fields,
                bodies=draft.bodies,
                message=draft.message,
            )

    def open(self) -> _Record:
        record = _Record(self.key)
        _read_lines(record, self.run.text, self.run.before, self.run.signed, self.number)
        return record


class DraftReader:
    """Reads a log line by line; a reader that knows where nothing is of interest may leave lines out, see `awaits`."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._records: OrderedDict[str, _Record | _ReadRecord] = OrderedDict()
        self._skipped = ""
        self._header = Header("", "")
        self._explained_until = 0
        """Up to this line, words may explain a reason that was given; behind it, what goes on with it has a sign."""

    def awaits(self, number: int) -> bool:
        """Whether this line is needed even without one of torch's words; else only if a line with one follows it."""
        return bool(self._busy) or number <= self._explained_until

    def read(self, line: str, number: int) -> Iterable[Draft]:
        """Take the next line; give the messages that end with it."""
        if not (self.awaits(number) or has_sign(line)):
            if line and not line.isspace():
                self._skipped = line
            return ()
        line = line.rstrip("\r\n")
        if "\r" not in line:
            return self._read_piece(line, number)
        return (draft for piece in line.split("\r") for draft in self._read_piece(piece, number))

    def read_run(self, header: Header, text: str, number: int) -> Iterable[Draft]:
        """Take lines of a record at once, whose header was taken off; or a line, with an empty header."""
        if not header.text:
            return self.read(text, number)
        if header.record in self._records or self.awaits(number):
            lines = enumerate(split_lines(text), number)
            return (draft for at, body in lines for draft in self.read(header.text + body, at))
        before = self._line_before(header.record) if header.text in self._skipped else None
        run = _read_run(text, before or "", has_sign(header.text))
        self._header = header
        self._skipped = "" if run.passed_over is None else header.text + run.passed_over
        if not run.started:
            return ()
        if run.explained_until >= 0:
            self._explained_until = number + run.explained_until
        record = _ReadRecord(header.record, number, run)
        return [*self._follow(header.record, record), *record.placed(run.found)]

    def _follow(self, key: str, record: _Record | _ReadRecord) -> Iterator[Draft]:
        self._records[key] = record
        if len(self._records) > OPEN_RECORDS:
            oldest, crowded_out = self._records.popitem(last=False)
            self._busy.discard(oldest)
            yield from crowded_out.close()

    def _line_before(self, key: str) -> str | None:
        """The line that was passed over last, if it is of this record."""
        if not self._skipped:
            return None
        record, body = read_line(self._skipped)
        return body if record == key else None

    def _read_piece(self, piece: str, number: int) -> Iterator[Draft]:
        header = self._header
        if header.text and piece.startswith(header.text) and "\x1b" not in piece:  # the next line of the same record
            body = piece[len(header.text) :]
        else:
            record_key, body = read_line(piece)
            is_whole = HEADER.match(record_key) and piece.endswith(body)
            self._header = header = Header(piece[: len(piece) - len(body)] if is_whole else "", record_key)
        key = header.record
        record = self._records.get(key)
        if isinstance(record, _ReadRecord):
            record = self._records[key] = record.open()
        if record is None:
            if not has_sign(body):
                self._skipped = piece
                return
            record = _Record(key)
            yield from self._follow(key, record)
        before = self._line_before(key)
        record.last = record.last if before is None else before
        self._skipped = ""
        yield from record.read(body, number)
        if record.reason and record.reason.line == number:
            self._explained_until = number + FOREIGN_LINES
        if not header.text:
            (self._busy.add if record.busy else self._busy.discard)(key)

    def finish(self) -> Iterator[Draft]:
        """After the last line: the messages that nothing ended."""
        for record in self._records.values():
            yield from record.close()


def find_drafts(lines: Iterable[str]) -> Iterator[Draft]:
    """Messages in the order in which they end; a line with none of torch's words costs a few substring searches."""
    reader = DraftReader()
    for number, line in _pass_over(lines, reader.awaits):
        yield from reader.read(line, number)
    yield from reader.finish()


def _pass_over(lines: Iterable[str], awaits: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Number the lines; of a batch in which nothing looks like torch's words, give only the last that is not blank."""
    number = 0
    source = iter(lines)
    while batch := list(islice(source, BATCH)):
        if awaits(number + 1) or has_sign("\n".join(batch)):
            yield from enumerate(batch, number + 1)
        else:
            for offset in range(len(batch) - 1, -1, -1):
                if batch[offset].strip():
                    yield number + offset + 1, batch[offset]
                    break
        number += len(batch)


def split_lines(text: str) -> list[str]:
    return text.split("\n")


def unlabelled(text: str) -> ParsedMessage:
    first = next((line for line in split_lines(text) if line.strip()), "")
    link = LINK.search(text)
    return ParsedMessage(gb_type=strip_markers(read_line(first)[1]), link=link[1].upper() if link else "", text=text)
