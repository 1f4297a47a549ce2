"""Find the lines of a log that may belong to a message. All other lines are skipped with a fast search for bytes."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import cache

from registry.message_layout import BLOCK_SIGNS, FRAMING, SIGNS, Header
from repro_runner.logs.blocks import BLOCK, HEAD, count_lines, find_cut

LONG_LINE = 64 * 1024
"""A longer line is split into pieces, so that a message in it does not contain the whole line."""

_AT_ONCE = 1024
"""This many bytes after a sign are passed on without a further search, because more signs usually follow."""

_BESIDE_A_MESSAGE = ("WON'T CONVERT ", "will skip tracing ", "he above exception", "Traceback (most recent")
_NO_HEADER = Header("", "")
_RUN = re.compile(
    rb"(((?:\[(?:rank|default)[0-9]+\]: ?)?(" + FRAMING["header"].encode() + rb"))[^\n]*\n(?:\2[^\n]*\n)*)"
)
"""Lines of a record that stand together: all of them have the header that the first one has."""

_NO_RUN = (b"", b"", b"")

Sifted = tuple[int, Header, str]


_BACKEND_SIGNS = ("Step 2: done compiler function", "Step 2: calling compiler function")
_SIGNS = (*_BACKEND_SIGNS, *SIGNS, *_BESIDE_A_MESSAGE)
_LONGEST_SIGN = max(map(len, _SIGNS))


@cache
def _search(signs: tuple[str, ...]) -> Callable[[bytes], list[tuple[int, int, int]]]:
    """A search for all signs at once: (which, start, end) of each. Of two that overlap, the first is found."""
    # Imported here: a machine with a GPU and nothing but torch runs programs, and reads no logs.
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    words = [sign.encode() for sign in signs]
    return BytesAhoCorasick(words, matchkind=MatchKind.LeftmostFirst).find_matches_as_indexes


def _has(signs: tuple[str, ...], text: bytes) -> bool:
    find = _search(signs)
    return bool(find(text[:_AT_ONCE]) or find(text))


class Sieve:
    """Yields what a DraftReader needs in order to find the same messages as in the whole log.

    That is (number, header, text): a line and an empty header, or a run of lines of a record and the header that was
    taken off. While the reader awaits the rest of a message, it is every line. Otherwise it is the lines from a line
    with a sign on, and the last non-blank line before it. Two lines of one message may be up to a block apart.
    """

    def __init__(self) -> None:
        self._number = 1
        self._held: deque[tuple[int, bytes, bool]] = deque()
        """Recent blocks without a sign of a message. The next message may start in them."""
        self._held_bytes = 0
        self._since_message = BLOCK
        """Bytes since the last block with a message, which may continue in them."""
        self._in_line = False
        """Whether the last block ended inside a line."""
        self.of_torch = False
        """Whether any block has words of torch's compiler."""
        self.graphs: int | None = None
        """How many graphs a backend has compiled; None if none was given to it. It may give up and get one again."""

    def sift(self, block: bytes, awaits: Callable[[int], bool]) -> Iterator[Sifted]:
        """Yield what is needed of the next block. `awaits(number)` says whether the reader
        needs that line, whatever is in it; it may change after each line."""
        arrived = self._number, block, self._in_line
        self._in_line = not block.endswith(b"\n")
        has_message = _has(BLOCK_SIGNS, block)
        if has_message:
            self.of_torch = True
            while self._held:
                yield from self._scan(*self._held.popleft(), awaits)
            self._held_bytes = self._since_message = 0
        if awaits(arrived[0]) or has_message or self._since_message < BLOCK:
            self._number = yield from self._scan(*arrived, awaits)
        else:
            self._hold(arrived)
            self._number += count_lines(block)
        self._since_message += len(block)

    def _hold(self, block: tuple[int, bytes, bool]) -> None:
        self._held.append(block)
        self._held_bytes += len(block[1])
        while len(self._held) > 1 and self._held_bytes - len(self._held[0][1]) >= BLOCK:
            self._held_bytes -= len(self._held.popleft()[1])

    def _places(self, block: bytes) -> array[int]:
        """Where signs are, and the length of the block. A block may consist of signs, so it is searched in parts."""
        places = array("Q")
        for part in range(0, len(block), HEAD):
            found = _search(_SIGNS)(block[part : part + HEAD + _LONGEST_SIGN - 1])
            places.extend(part + start for which, start, _ in found if which >= len(_BACKEND_SIGNS) and start < HEAD)
            if steps := [which for which, start, _ in found if which < len(_BACKEND_SIGNS) and start < HEAD]:
                self.graphs = (self.graphs or 0) + steps.count(0)
        places.append(len(block))
        return places

    def _scan(
        self, number: int, block: bytes, in_line: bool, awaits: Callable[[int], bool]
    ) -> Generator[Sifted, None, int]:
        """Yield what is needed; return the number of the line after the block."""
        at, size = 0, len(block)
        signs = self._places(block)
        while at < size:
            run = None
            if not awaits(number):
                sign = signs[bisect_left(signs, at)]
                start = size if sign == size else max(at, block.rfind(b"\n", at, sign) + 1)
                if start or not in_line:
                    run = _RUN.match(block, start, start + LONG_LINE)
                number += count_lines(block[at:start])
                line, blank = _last_line(block, at, start)
                if line:  # what stands before a message may be its first line, or show that another is not
                    yield number - blank, _NO_HEADER, _text(line)
                at = start
                if at == size:
                    break
            taken, before, record = run.groups() if run else _NO_RUN
            if taken and not (b"\r" in taken or b"\x1b" in taken or b"&" in taken):  # these may hide a header
                header = Header(before.decode(), record.rstrip().decode())
                bodies = [line[len(header.text) :] for line in _text(taken).split("\n")]
                yield number, header, "\n".join(bodies)
                number += len(bodies)
                end = at + len(taken)
            else:
                end = block.find(b"\n", at + _AT_ONCE) + 1 or size
                taken = block[at:end]
                for line_number, text in _lines(taken, number, in_line=at == 0 and in_line):
                    yield line_number, _NO_HEADER, text
                number += taken.count(b"\n")
            at = end
        return number


def _last_line(block: bytes, start: int, end: int) -> tuple[bytes, int]:
    """The last line of a part of a block that is not blank, and how many line ends come after its text."""
    last = end
    while last > start:
        before = max(start, last - _AT_ONCE)  # a part may be long, and is mostly not needed
        if text := block[before:last].rstrip():
            last = before + len(text)
            at = max(last - LONG_LINE, block.rfind(b"\n", start, last) + 1, start)
            return block[at:last], block.count(b"\n", last, end)
        last = before
    return b"", 0


def _lines(taken: bytes, number: int, *, in_line: bool) -> Iterator[tuple[int, str]]:
    if len(taken) <= LONG_LINE and not in_line:
        yield from enumerate(_text(taken).split("\n"), number)
        return
    for offset, line in enumerate(taken.removesuffix(b"\n").split(b"\n")):
        for piece in _pieces(line, continued=in_line and offset == 0):
            yield number + offset, _text(piece)


def _pieces(line: bytes, *, continued: bool) -> Iterator[bytes]:
    """Yield the line. A long line is split: its first piece, and each further piece that contains a sign."""
    start, first = 0, not continued
    while True:
        end = find_cut(line, start, LONG_LINE) if len(line) - start > LONG_LINE else len(line)
        piece = line[start:end]
        if first or _has(_SIGNS, piece):
            yield piece
        if end == len(line):
            return
        start, first = end, False


def _text(lines: bytes) -> str:
    return lines.decode("utf-8", "replace").removesuffix("\n")
