"""Find the lines of a log that may belong to a message. All other lines are skipped with a fast search for bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator

from registry.message_layout import BLOCK_SIGNS, SIGNS
from repro_runner.logs.blocks import BLOCK, find_cut

LONG_LINE = 64 * 1024
"""A longer line is split into pieces, so that a message in it does not contain the whole line."""

_AT_ONCE = 1024
"""This many bytes after a sign are passed on without a further search, because more signs usually follow."""

_OF_A_MESSAGE = tuple(sign.encode() for sign in BLOCK_SIGNS)
"""Signs of a message. The other signs matter only near one of these."""
_BESIDE_A_MESSAGE = (b"WON'T CONVERT ", b"will skip tracing ", b"he above exception", b"Traceback (most recent")
_ALL = tuple(dict.fromkeys([*(sign.encode() for sign in SIGNS), *_BESIDE_A_MESSAGE]))


class Sieve:
    """Yields the numbered lines that a DraftReader needs in order to find the same messages as in the whole log.

    While the reader awaits the rest of a message, that is every line. Otherwise it is the lines from a line with a sign
    on, and the last non-blank line before it. Two lines of one message may be up to a block apart.
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

    def sift(self, block: bytes, awaits: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
        """Yield the needed lines of the next block. `awaits(number)` says whether the reader
        needs that line, whatever is in it; it may change after each line."""
        arrived = self._number, block, self._in_line
        self._in_line = not block.endswith(b"\n")
        has_message = any(sign in block for sign in _OF_A_MESSAGE)
        if has_message:
            self.of_torch = True
            while self._held:
                yield from self._scan(*self._held.popleft(), awaits)
            self._held_bytes = self._since_message = 0
        if awaits(arrived[0]) or has_message or self._since_message < BLOCK:
            self._number = yield from self._scan(*arrived, awaits)
        else:
            self._hold(arrived)
            self._number += block.count(b"\n")
        self._since_message += len(block)

    def _hold(self, block: tuple[int, bytes, bool]) -> None:
        self._held.append(block)
        self._held_bytes += len(block[1])
        while len(self._held) > 1 and self._held_bytes - len(self._held[0][1]) >= BLOCK:
            self._held_bytes -= len(self._held.popleft()[1])

    @staticmethod
    def _scan(
        number: int, block: bytes, in_line: bool, awaits: Callable[[int], bool]
    ) -> Generator[tuple[int, str], None, int]:
        """Yield the needed lines; return the number of the line after the block."""
        at, size = 0, len(block)
        signs = _Signs(block)
        while at < size:
            if not awaits(number):
                sign = signs.next(at)
                start = size if sign == size else max(at, block.rfind(b"\n", at, sign) + 1)
                number += block.count(b"\n", at, start)
                if skipped := block[at:start].rstrip():
                    blank = block.count(b"\n", at + len(skipped), start)
                    yield number - blank, _text(skipped[skipped.rfind(b"\n") + 1 :][-LONG_LINE:])
                at = start
                if at == size:
                    break
            end = block.find(b"\n", at + _AT_ONCE) + 1 or size
            taken = block[at:end]
            yield from _lines(taken, number, in_line=at == 0 and in_line)
            number += taken.count(b"\n")
            at = end
        return number


class _Signs:
    """Finds the next sign in a block. The block is searched only once for each sign."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._places = dict.fromkeys(_ALL, -1)
        self._next = -1

    def next(self, at: int) -> int:
        """The position of the first sign from `at` on; the length of the block if there is none."""
        if self._next < at:
            for sign, place in self._places.items():
                if place < at:
                    found = self._block.find(sign, at)
                    self._places[sign] = len(self._block) if found < 0 else found
            self._next = min(self._places.values())
        return self._next


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
        if first or any(sign in piece for sign in _ALL):
            yield piece
        if end == len(line):
            return
        start, first = end, False


def _text(lines: bytes) -> str:
    return lines.decode("utf-8", "replace").removesuffix("\n")
