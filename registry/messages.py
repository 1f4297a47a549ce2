"""Messages in text: cut them out of a log, and take one apart as torch puts it together."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

OPEN_RECORDS = 64
"""Log records followed at the same time: processes and threads that write into one log interleave."""
LINES_IN_MESSAGE = 2000
BATCH = 64
"""Lines looked at together when nothing is open: a reader of a pipe waits for that many."""
FOREIGN_LINES = 8
"""Lines of something else, such as a print to the same terminal, that may interrupt a message."""

# All expressions named in FRAMING mean the same in Python and in JavaScript (flags: none, but `i` for the link).
FRAMING = {
    "link": r"/gb/(gb[0-9]{4,8}|gbl-[0-9a-f]{6})\.html",
    "colour": r"\x1b\[[0-9;?]*[A-Za-z]",
    "prefix": r"^(?:\[(?:rank|default)[0-9]+\]: ?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z |E {3}|> ?)+",
    "header": r"[VDIWEFC][0-9]{4} [0-9:]{8}\.[0-9]{1,9} [0-9]{1,20} [^\]\n]{1,300}\] ?"
    r"(?:\[(?:!?[0-9][0-9/_]{0,30}|__[A-Za-z0-9_]{1,60}|rank[0-9]{1,9})\] ?)*",
    "label": r"^[ \t]*(Explanation|Hint|Developer debug context|Higher Order Operator):(?: |$)",
    "marker": r"Graph Break Reason: +|torch\._dynamo\.exc\.([A-Za-z]+): +|^[ \t]*(?:Unsupported|Reason): +",
    "location": r"^[ \t]*Graph break (?:\(user stack suppressed due to duplicate graph break\) )?in user code at ([^\n]+:[0-9]+)[ \t]*$",  # noqa: E501
    "frame": r'^[ \t]*File "([^"\n]*)", line ([0-9]+)',
    "space": r"[ \t\r\n\f\v]+",
}
LINK = re.compile(FRAMING["link"], re.IGNORECASE)
COLOUR = re.compile(FRAMING["colour"])
PREFIX = re.compile(FRAMING["prefix"])
HEADER = re.compile(FRAMING["header"])
LABEL = re.compile(FRAMING["label"])
MARKER = re.compile(FRAMING["marker"])
LOCATION = re.compile(FRAMING["location"])
FRAME = re.compile(FRAMING["frame"])
SIGNS = (
    "xplanation:",
    "/gb/",
    "__graph_breaks",
    "_dynamo.exc",
    "_dynamo/exc.py",
    "nsupported: ",
    "raph break",
    "Graph Break Reason",
    "Developer debug context",
)
"""One of these is in every line at which a message may start."""
LINE_START = 1000
"""Characters of a line in which a logger's header or one of torch's markers is sought."""
CHAIN = "*** While handling this graph break, another graph break occurred: ***"
FROM_USER_CODE = ("from user code:", "User code traceback:")
ENDINGS = (
    *FROM_USER_CODE,
    "Stack variable source attribution:",
    "Set TORCHDYNAMO_VERBOSE",
    "Traceback (most recent call last)",
    "The above exception was",
    "During handling of the above",
)
BREAK_EXCEPTIONS = frozenset({"Unsupported", "UncapturedHigherOrderOpError"})


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
    message: ParsedMessage
    certain: bool
    """Only torch writes like this: worth keeping even if nobody knows it."""
    indent: int = 0
    fields: list[tuple[str, list[str]]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    foreign: int = 0

    def add_field(self, name: str, text: str) -> None:
        self.fields.append((name, [text]))
        self.certain = self.certain or name == "Developer debug context"

    def add_line(self, body: str) -> bool:
        """Take a line that goes on with the last field; say whether it did."""
        indent = len(body) - len(body.lstrip())
        stripped_layout = self.indent == 0 and self.fields[-1][0] != "Developer debug context"
        if body.strip() and indent <= self.indent and not stripped_layout:
            return False
        if len(self.bodies) < LINES_IN_MESSAGE:
            by_torch = self.indent + 2
            self.fields[-1][1].append(body[by_torch:] if indent >= by_torch or not body.strip() else body.lstrip())
            self.bodies.append(body)
        return True

    def finish(self, causes: Iterable[ParsedMessage] = ()) -> Draft:
        values: dict[str, list[str]] = {}
        for name, lines in self.fields:
            values.setdefault(name, []).append("\n".join(lines).strip())
        self.message = replace(
            self.message,
            explanation="\n".join(values.get("Explanation", ())),
            hints=tuple(values.get("Hint", ())),
            context="\n".join(values.get("Developer debug context", ())),
            text="\n".join(self.bodies).strip("\n"),
            causes=tuple(causes),
        )
        return self


class _Record:
    """Reads one log record, or everything outside of records, line by line."""

    def __init__(self, last: str = "") -> None:
        self.last = last
        self.location = ""
        self.operator = ""
        self.reason: Draft | None = None
        """A line that names a reason, until its explanation comes or does not."""
        self.draft: Draft | None = None
        self.ended = False
        self.in_stack = False
        self.chain: list[Draft] = []

    @property
    def busy(self) -> bool:
        return bool(self.draft or self.reason or self.chain or self.in_stack)

    def read(self, body: str, number: int) -> Iterator[Draft]:
        text = body.strip()
        if not text:
            if self.draft and not self.ended:
                self.draft.add_line("")
            return
        if self.in_stack:
            if body[:1].isspace():
                if (frame := FRAME.match(body)) and self.draft:
                    self.draft.message = replace(self.draft.message, location=f"{frame[1]}:{frame[2]}")
                return
            yield from self.close()
        label = LABEL.match(body)
        if label and not (self.ended and label[1] != "Explanation"):
            yield from self._read_label(label, body, number)
        elif text == CHAIN:
            self._keep_as_cause()
        elif self.draft and text.startswith(FROM_USER_CODE):
            self.in_stack = not self.draft.message.location
            if not self.in_stack:
                yield from self.close()
        elif "/gb/" in text and (links := LINK.findall(text)):
            yield from self._read_links(links, body, number)
        else:
            yield from self._read_text(body, text, number)

    def _read_label(self, label: re.Match[str], body: str, number: int) -> Iterator[Draft]:
        name, rest = label[1], body[label.end() :]
        if name == "Higher Order Operator":
            self.operator = rest.strip()
            return
        headless = self.draft is None and name == "Developer debug context"
        if name == "Explanation" or headless:
            gb_type = "" if headless else strip_markers(self.last)
            reason, self.reason = self.reason, None
            if reason and not reason.message.gb_type.endswith(":") and reason.message.gb_type != gb_type:
                yield reason  # no preamble ("Graph break encountered:") of this one, but a message of its own
                reason = None
            causes = [*self.chain] if self.draft is None else []
            if not causes:
                yield from self.close()
            self.chain = causes
            self.draft = Draft(
                line=reason.line if reason else number,
                message=ParsedMessage(gb_type=gb_type, higher_order_operator=self.operator, location=self.location),
                certain=reason is not None and reason.certain,
                indent=len(body) - len(body.lstrip()),
                bodies=[gb_type] if gb_type else [],
            )
            self.operator, self.ended = "", False
        if self.draft:
            self.draft.bodies.append(body)
            self.draft.foreign = 0
            self.draft.add_field(name, rest)

    def _read_links(self, links: list[str], body: str, number: int) -> Iterator[Draft]:
        if self.draft and not self.ended:
            self.draft.message = replace(self.draft.message, link=links.pop(0).upper())
            self.draft.bodies.append(body)
            self.draft.certain = self.ended = True
        text = body.strip()  # once: a line may hold megabytes, and thousands of links
        for link in links:
            yield Draft(line=number, message=ParsedMessage(link=link.upper(), text=text), certain=True)

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
            reason = body[marker.end() :].strip()
            certain = body[marker.start() :].startswith("Graph Break Reason") or marker[1] in BREAK_EXCEPTIONS
            message = ParsedMessage(gb_type=strip_markers(reason), location=self.location, text=reason)
            self.reason = Draft(line=number, message=message, certain=certain)
        elif self.draft or self.reason:
            yield from self._read_foreign(body)
        self.last = body

    def _starts_anew(self, body: str) -> bool:
        """In a text that lost its indentation, a marker is all that tells the next message from this one."""
        if self.draft is None or len(body) - len(body.lstrip()) > self.draft.indent:
            return False
        return LOCATION.match(body) is not None or MARKER.match(body.lstrip()) is not None

    def _read_foreign(self, body: str) -> Iterator[Draft]:
        if self.reason:
            self.reason.bodies.append(body)
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
            yield final.finish(cause.message for cause in causes)
        elif self.reason:
            yield self.reason
        if drafts or self.reason:
            self.location = ""
        self.chain, self.draft, self.reason = [], None, None
        self.ended = self.in_stack = False


def find_drafts(lines: Iterable[str]) -> Iterator[Draft]:
    """Messages in the order in which they end; a line with none of torch's words costs a few substring searches."""
    records: OrderedDict[str, _Record] = OrderedDict()
    busy: set[str] = set()
    skipped = header = key = ""
    for number, line in _pass_over(lines, busy):
        if not (busy or _has_sign(line)):
            if line and not line.isspace():
                skipped = line
            continue
        for piece in line.rstrip("\r\n").split("\r"):
            if header and piece.startswith(header) and "\x1b" not in piece:  # the next line of the same record
                body = piece[len(header) :]
            else:
                key, body = read_line(piece)
                header = piece[: len(piece) - len(body)] if HEADER.match(key) and piece.endswith(body) else ""
            record = records.get(key)
            if record is None:
                if not _has_sign(body):
                    skipped = piece
                    continue
                record = records[key] = _Record()
                if len(records) > OPEN_RECORDS:
                    oldest, crowded_out = records.popitem(last=False)
                    busy.discard(oldest)
                    yield from crowded_out.close()
            if skipped:
                before, last = read_line(skipped)
                record.last = last if before == key else record.last
                skipped = ""
            yield from record.read(body, number)
            if not header:
                (busy.add if record.busy else busy.discard)(key)
    for record in records.values():
        yield from record.close()


def _pass_over(lines: Iterable[str], busy: Collection[str]) -> Iterator[tuple[int, str]]:
    """Number the lines; of a batch in which nothing looks like torch's words, give only the last that is not blank."""
    number = 0
    source = iter(lines)
    while batch := list(islice(source, BATCH)):
        if busy or _has_sign("\n".join(batch)):
            yield from enumerate(batch, number + 1)
        else:
            for offset in range(len(batch) - 1, -1, -1):
                if batch[offset].strip():
                    yield number + offset + 1, batch[offset]
                    break
        number += len(batch)


def _has_sign(text: str) -> bool:
    """Whether torch may be speaking; what a lone `any` over a generator would cost matters here."""
    for sign in SIGNS:  # noqa: SIM110
        if sign in text:
            return True
    return False


def read_line(line: str) -> tuple[str, str]:
    """Take colours and a logger's prefix off a line: (the record it belongs to, the rest with its indent)."""
    line = line.rstrip("\r\n")
    if "\x1b" in line:
        line = COLOUR.sub("", line)
    rank = ""
    if prefix := PREFIX.match(line):
        line = line[prefix.end() :]
        rank = prefix[0][prefix[0].find("[") :].rstrip() if "[" in prefix[0] else ""
    header = HEADER.search(line, 0, LINE_START)
    return (header[0].rstrip(), line[header.end() :]) if header else (rank, line)


def strip_markers(body: str) -> str:
    """`torch._dynamo.exc.Unsupported: X` and `Graph Break Reason: X` are X."""
    _, text = read_line(body)
    at = 0
    while marker := MARKER.search(text[at : at + LINE_START]):
        at += marker.end()
    return text[at:].strip()


def split_lines(text: str) -> list[str]:
    return text.split("\n")


def unlabelled(text: str) -> ParsedMessage:
    first = next((line for line in split_lines(text) if line.strip()), "")
    link = LINK.search(text)
    return ParsedMessage(gb_type=strip_markers(first), link=link[1].upper() if link else "", text=text)
