"""The additional-information block of a page: read it, splice it back, refuse what is malformed.

A page is generated text around one block that belongs to people:

    ---
    (front matter; its last two lines are note_for and digest)
    ---
    (generated)
    <!-- ADDITIONAL INFORMATION START ... -->
    (the note: every byte of it is theirs)
    <!-- ADDITIONAL INFORMATION END -->
    (generated)

The line break before the END marker belongs to the page, every other byte between the two marker lines to the note.
The digest covers everything outside the note, so that text added there is noticed even when the page's wording has
changed since; note_for is the gb_type the note was written for, and may be edited by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, NoReturn

from registry.model import Note

START = "<!-- ADDITIONAL INFORMATION START - Add custom information below this line -->"
END = "<!-- ADDITIONAL INFORMATION END -->"
EMPTY_NOTE = "\n"
"""Two blank lines between the markers: whoever fills in the first keeps one before END, as Markdown lists need."""

_START = re.compile(r"<!--\s*ADDITIONAL INFORMATION START\b[^>]*-->[ \t]*")
_END = re.compile(r"<!--\s*ADDITIONAL INFORMATION END\s*-->[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CANDIDATE = re.compile(r"(?:<!--|```|~~~)[^\r\n]*")
"""What may be a marker or a fence, to the end of its line; every other line is skipped at the speed of `re`."""
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_OWN_LINES = re.compile(r"^(?:note_for|digest):.*\n", re.MULTILINE)


class MalformedPage(Exception):
    """A page whose block can't be told from the rest; carries the line to look at and what to do."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class _Line(NamedTuple):
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPage:
    """A page in three parts; head + note + tail is the page."""

    head: str
    note: str
    tail: str

    @property
    def note_line(self) -> int:
        """The line number of the note's first line."""
        return len(_LINE_BREAK.findall(self.head)) + 1


@lru_cache(1)  # who reads a page digests it next
def split_page(text: str) -> SplitPage:
    """Cut a page at its two markers, or raise MalformedPage."""
    markers = list(_markers(text))
    starts = [line for line, pattern in markers if pattern is _START]
    ends = [line for line, pattern in markers if pattern is _END]
    if len(starts) != 1 or len(ends) != 1 or ends[0].start < starts[0].start:
        _refuse(text, [_line_number(text, line) for line in starts], [_line_number(text, line) for line in ends])
    after_start = _LINE_BREAK.match(text, starts[0].end)
    begin = after_start.end() if after_start else starts[0].end
    between = text[begin : ends[0].start]
    note = between.removesuffix("\n")
    return SplitPage(head=text[:begin], note=note, tail=text[begin + len(note) :])


_NEED_NO_END = re.compile(
    r"area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr"
    r"|a|b|code|del|em|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|u"
)
"""Empty elements, and those that Markdown ends with their paragraph."""
_OPENED = re.compile(
    r"<!--(?!.*?-->)|\{::\w+[^}/]*\}(?!.*?\{:/)|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]*?(?P<own>/?)>",
    re.DOTALL,
)
_SPAN_OF_CODE = re.compile(r"(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)", re.DOTALL)


def check_closed(note: str, first_line: int) -> None:
    """Raise MalformedPage if a note opens what it does not close, or the other way round.

    It would swallow what stands below it on the page, or end what is around it.
    """
    lines = list(_candidates(note))
    number, code = 0, []
    while number < len(lines):
        line, number = lines[number], number + 1
        if fence := _FENCE.fullmatch(line.text):
            after = _after_fence(lines, number, fence, {})
            if after == number and not ("`" in fence[1] and "`" in fence[2]):
                _refuse_open(note, line.start, first_line, "a code fence", fence[1])
            code.append((line.start, lines[after - 1].end))
            number = after
    for start, end in code:
        note = note[:start] + re.sub(r"[^\r\n]", " ", note[start:end]) + note[end:]
    note = _SPAN_OF_CODE.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]), note)
    opened: list[tuple[str, int]] = []
    for found in _OPENED.finditer(note):
        tag = (found["tag"] or "").lower()
        if not tag:
            _refuse_open(note, found.start(), first_line, f"`{found[0]}`", "-->" if found[0] == "<!--" else "{:/}")
        elif found["end"] and (matching := [at for at, one in enumerate(opened) if one[0] == tag]):
            opened = opened[: matching[-1]]
        elif found["end"] and not _NEED_NO_END.fullmatch(tag):
            message = f"the note closes <{tag}> and has not opened it; remove `{found[0]}`"
            raise MalformedPage(_line_in(note, found.start(), first_line), message)
        elif not found["end"] and not _NEED_NO_END.fullmatch(tag) and not found["own"]:
            opened.append((tag, found.start()))
    for tag, start in opened:
        _refuse_open(note, start, first_line, f"<{tag}>", f"</{tag}>")


def _refuse_open(note: str, start: int, first_line: int, what: str, end: str) -> NoReturn:
    message = f"the note opens {what} and does not close it; add `{end}` behind what is inside"
    raise MalformedPage(_line_in(note, start, first_line), message)


def _line_in(note: str, start: int, first_line: int) -> int:
    return first_line + len(_LINE_BREAK.findall(note, 0, start))


def _line_number(text: str, line: _Line) -> int:
    return len(_LINE_BREAK.findall(text, 0, line.start)) + 1


def _refuse(text: str, starts: list[int], ends: list[int]) -> NoReturn:
    if not starts and not ends:
        raise MalformedPage(1, f"both markers are missing; put the note between `{START}` and `{END}`")
    if not starts:
        raise MalformedPage(ends[0], f"the START marker is missing; add the line `{START}` above the note")
    if not ends:
        reason = "or close the code fence that holds it" if END in text else "by itself"
        raise MalformedPage(starts[0], f"the END marker is missing; add the line `{END}` below the note, {reason}")
    if len(starts) > 1:
        raise MalformedPage(starts[1], "a second START marker; keep one block (a quoted marker goes into a code fence)")
    if len(ends) > 1:
        raise MalformedPage(ends[1], "a second END marker; keep one block (a quoted marker goes into a code fence)")
    raise MalformedPage(ends[0], "the END marker stands above the START marker; swap them")


def is_marker(line: str) -> bool:
    """Whether a line is one of the two markers."""
    return bool(_START.fullmatch(line) or _END.fullmatch(line))


def _candidates(text: str) -> Iterator[_Line]:
    for found in _CANDIDATE.finditer(text):
        start = found.start()
        while start > 0 and text[start - 1] == " ":
            start -= 1
        if start == 0 or text[start - 1] in "\r\n":
            yield _Line(start, found.end(), text[start : found.end()])


def _markers(text: str) -> Iterator[tuple[_Line, re.Pattern[str]]]:
    """Yield every marker that is a line by itself and not inside a code fence, with its kind."""
    lines = list(_candidates(text))
    unclosed: dict[str, int] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence := _FENCE.fullmatch(line.text):
            # An opening fence that nothing closes is text to Jekyll, and so it is here.
            number = _after_fence(lines, number, fence, unclosed)
            continue
        for marker in (_START, _END):
            if marker.fullmatch(line.text):
                yield line, marker


def _after_fence(lines: list[_Line], number: int, opening: re.Match[str], unclosed: dict[str, int]) -> int:
    """Return the line after the closing fence, or `number` where there is none.

    `unclosed` remembers the shortest fence of each kind known to stay open, so that a long note is read once.
    """
    mark, info = opening.groups()
    kind, length = mark[0], len(mark)
    if (kind == "`" and "`" in info) or length >= unclosed.get(kind, length + 1):
        return number
    closing = re.compile(rf" {{0,3}}{re.escape(kind)}{{{length},}}[ \t]*")
    for after in range(number, len(lines)):
        if closing.fullmatch(lines[after].text):
            return after + 1
    unclosed[kind] = length
    return number


def splice(page: str, note: str) -> str:
    """Put a note between the markers of a page; MalformedPage if it could not be read back as it is."""
    outside = split_page(page)
    spliced = outside.head + note + outside.tail
    try:
        note.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedPage(outside.note_line, "the note is not valid Unicode; remove the lone surrogate") from error
    if split_page(spliced).note != note:
        raise MalformedPage(outside.note_line, "the note does not read back as it is; check its code fences")
    return spliced


def seal(page: str, note: Note) -> str:
    """Finish a rendered page that has an empty block: add note_for and digest to its front matter, and the note."""
    own = f"note_for: {json.dumps(note.written_for, ensure_ascii=False)}\ndigest: {digest(page)}\n"
    matter = _FRONT_MATTER.match(page)
    if matter is None or matter.group(1) is None:
        raise ValueError("a rendered page must begin with front matter")
    end = matter.end(1)
    return splice(page[:end] + own + page[end:], note.text)


def digest(page: str) -> str:
    """Digest everything outside the note but for the two lines that `seal` adds; line endings do not count."""
    parts = split_page(page)
    outside = _unix_lines(parts.head + parts.tail.lstrip("\r\n")).rstrip("\n")
    matter = _FRONT_MATTER.match(outside)
    if matter:
        outside = _OWN_LINES.sub("", matter.group()) + outside[matter.end() :]
    return hashlib.sha256(outside.encode("utf-8")).hexdigest()[:32]


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def body_of(page: str) -> str:
    """A page without its front matter."""
    matter = _FRONT_MATTER.match(page)
    return page[matter.end() :].lstrip("\n") if matter else page


def front_matter_value(page: str, key: str) -> str | None:
    """Read one string out of the front matter, quoted or bare; None where it is absent."""
    matter = _FRONT_MATTER.match(_unix_lines(page))
    found = matter and re.search(rf"^{key}:[ \t]*(.*?)[ \t]*$", matter.group(1) or "", re.MULTILINE)
    if not found:
        return None
    try:
        value = json.loads(found[1])
    except json.JSONDecodeError:
        value = found[1]
    return value if isinstance(value, str) else found[1]
