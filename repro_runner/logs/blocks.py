"""The bytes of a log, whatever it is wrapped in, as blocks of whole lines: memory does not grow with the log.

A block ends with a line feed, unless it is the last one, or a piece of a line that is longer than a block: such a line
goes on in the next block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from repro_runner.logs.unpacking import Torn, unpack

BLOCK = 4 * 1024 * 1024
"""Bytes in a block, about."""
HEAD = 256 * 1024
"""Bytes by which a format is recognised."""
_CHUNK = 1024 * 1024
_WORD_ENDS = (b"\r", b" ", b",")
"""Where a line that has to be cut may be: after a progress bar, a word or an item, so that none is torn apart."""


@dataclass(slots=True)
class Stream:
    """One input while it is read: go through `blocks` once, then `cut` tells whether its end was reached."""

    raw: BinaryIO
    limit: int | None = None
    """Bytes to take: what a file held when it was opened, however much is appended while it is read."""
    advance: Callable[[int], None] | None = None
    """Told how many bytes were taken."""
    cut: str = ""
    """Why the rest could not be read; empty when all of it was."""
    unpacked_bytes: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Blocks of whole lines. An input that breaks off gives what came before, and `cut` says why."""
        parts: list[bytes] = []
        held = 0
        for piece in self._pieces():
            self.unpacked_bytes += len(piece)
            parts.append(piece)
            held += len(piece)
            while held >= BLOCK:
                whole = b"".join(parts)
                end = find_block_end(whole)
                yield whole[:end]
                parts, held = [whole[end:]], len(whole) - end
        if held:
            yield b"".join(parts)

    def _pieces(self) -> Iterator[bytes]:
        try:
            yield from unpack(self._chunks())
        except Torn as error:
            self.cut = str(error)
        except OSError as error:
            self.cut = error.strerror or str(error)

    def _chunks(self) -> Iterator[bytes]:
        left = self.limit
        while left is None or left > 0:
            chunk = self.raw.read(_CHUNK if left is None else min(_CHUNK, left))
            if not chunk:
                return
            if left is not None:
                left -= len(chunk)
            if self.advance:
                self.advance(len(chunk))
            yield chunk


def find_block_end(held: bytes) -> int:
    """Where to cut at least BLOCK bytes: after the last line end; in a line without one, after a word."""
    return held.rfind(b"\n") + 1 or find_cut(held, 0, BLOCK)


def find_cut(line: bytes, start: int, size: int) -> int:
    """Where a piece from `start` on, of at most `size` bytes, ends: after a word, if one ends in its last eighth."""
    end = start + size
    for mark in _WORD_ENDS:
        if cut := line.rfind(mark, end - size // 8, end) + 1:
            return cut
    return end
