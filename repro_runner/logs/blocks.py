"""Read a log, also a packed or quoted one, as blocks of whole lines, so that memory does not grow with the log.

A block ends with a line feed, except the last block, and a block that ends inside a line longer than a block. Such a
line continues in the next block."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

BLOCK = 4 * 1024 * 1024
"""The approximate number of bytes in a block."""
HEAD = 256 * 1024
"""A format is recognised by this many bytes."""
_CHUNK = 1024 * 1024
_WORD_ENDS = (b"\r", b" ", b",")
"""A line that is too long is cut after one of these: the end of a progress bar, a word or an item."""
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_STEP = 1024
"""How many packed bytes are unpacked in one step. They become at most 1 MiB with gzip, and 32 MiB with zstd."""
_ZSTD_WINDOW = 128 * 1024 * 1024
"""The window that `zstd --long` uses. A file that needs more memory is refused."""
_STRING = rb'("[^"\\\n]*(?:\\[^\n][^"\\\n]*)*")'


@dataclass(slots=True)
class Stream:
    """One input while it is read. Iterate over `blocks` once; after that, `cut` is set if the end was not reached."""

    raw: BinaryIO
    limit: int | None = None
    """How many bytes to read: the size of the file when it was opened, even if it grows meanwhile."""
    advance: Callable[[int], None] | None = None
    """Called with the number of bytes of each read."""
    cut: str = ""
    """Why the rest could not be read; empty if everything was read."""
    unpacked_bytes: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield blocks of whole lines. If the input breaks off, the blocks end there and `cut` says why."""
        parts: list[bytes] = []
        held = 0
        for piece in self._pieces():
            self.unpacked_bytes += len(piece)
            parts.append(piece)
            held += len(piece)
            while held >= BLOCK:
                if b"\n" not in parts[-1]:
                    parts = [b"".join(parts)]
                last = parts.pop()
                end = find_block_end(last)
                yield b"".join([*parts, last[:end]])
                parts, held = [last[end:]], len(last) - end
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
    """Where to cut at least BLOCK bytes: after the last line end; if there is none, after a word."""
    return held.rfind(b"\n") + 1 or find_cut(held, 0, BLOCK)


def count_lines(text: bytes) -> int:
    """Count line ends. Making a copy without them takes less than half the time of `count`."""
    return len(text) - len(text.replace(b"\n", b""))


def find_cut(line: bytes, start: int, size: int) -> int:
    """The end of a piece of at most `size` bytes from `start` on: after a word, if one ends in its last eighth."""
    end = start + size
    for mark in _WORD_ENDS:
        if cut := line.rfind(mark, end - size // 8, end) + 1:
            return cut
    return end


class Torn(Exception):
    """The packed bytes are damaged or end too early. The bytes before the damage were returned."""


class _Member:
    """A decompressor for one packed member. A gzip or zstd file may contain several members in a row."""

    def __init__(self, name: str, inflater: Any, damaged: type[Exception]) -> None:
        self.name, self._inflater, self._damaged = name, inflater, damaged
        self.rest = b""
        """The bytes after its end."""

    @property
    def ended(self) -> bool:
        return bool(self._inflater.eof)

    def expand(self, packed: bytes) -> Iterator[bytes]:
        """Yield the unpacked bytes in small pieces. Raises Torn if the data is damaged."""
        for at in range(0, len(packed), _STEP):
            try:
                text = self._inflater.decompress(packed[at : at + _STEP])
            except self._damaged as error:
                raise Torn(f"the {self.name} data is damaged ({error})") from error
            yield text
            if self.ended:
                self.rest = self._inflater.unused_data + packed[at + _STEP :]
                return


def _gzip() -> _Member:
    return _Member("gzip", zlib.decompressobj(wbits=31), zlib.error)


def _zstd() -> _Member:
    import zstandard

    inflater = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    return _Member("zstd", inflater, zstandard.ZstdError)


def unpack(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack gzip and zstd and decode UTF-16, recognised by the first bytes. Other bytes are not changed."""
    first = next(chunks, b"")
    if first.startswith(_GZIP):
        yield from _unpack_members(first, chunks, _gzip)
    elif first.startswith(_ZSTD):
        yield from _unpack_members(first, chunks, _zstd)
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # PowerShell writes this for `2> log.txt`
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        yield decoder.decode(first).encode("utf-8", "replace")
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "replace")
    elif first:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks


def _unpack_members(first: bytes, chunks: Iterator[bytes], begin: Callable[[], _Member]) -> Iterator[bytes]:
    member, packed = begin(), first
    while packed or (packed := next(chunks, b"")):
        if member.ended:
            packed = packed.lstrip(b"\0")  # padding, as tapes and some uploads have it
            if not packed:
                continue
            member = begin()
        yield from member.expand(packed)
        packed = member.rest
    if not member.ended:
        raise Torn(f"the {member.name} data ends too early")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoting:
    """A format that stores the lines of a log as JSON strings."""

    sign: re.Pattern[bytes]
    """Matches the start of a log in this format."""
    line: re.Pattern[bytes]
    """Matches a line of JSON with text. The first group is the string."""
    whole_lines: bool
    """Whether every string is a whole line, even without a line end."""
    note: str = ""

    def unquote(self, block: bytes) -> bytes:
        """The text of a block. Lines without text are not changed."""
        return self.line.sub(self._text, block)

    def _text(self, line: re.Match[bytes]) -> bytes:
        try:
            text: str = json.loads(line[1].decode("utf-8", "replace"), strict=False)
        except ValueError:
            return line[0]
        end = "\n" if self.whole_lines and not text.endswith("\n") else ""
        return (text + end).encode("utf-8", "replace")


_DOCKER = Quoting(
    sign=re.compile(rb'\{"log": ?"'),
    line=re.compile(rb'^\{"log": ?' + _STRING + rb"[^\n]*\n?", re.MULTILINE),
    whole_lines=False,
)
_NOTEBOOK = Quoting(
    sign=re.compile(rb'\{\s*"(?:cells|metadata|nbformat)":'),
    line=re.compile(rb"^[ \t]*" + _STRING + rb"[ \t]*,?\r?(?:\n|\Z)", re.MULTILINE),
    whole_lines=True,
    note="a notebook: lines are counted in the text of its cells and outputs",
)


def find_quoting(head: bytes) -> Quoting | None:
    """How an input that starts with these bytes quotes its lines; None for plain text."""
    return next((each for each in (_DOCKER, _NOTEBOOK) if each.sign.match(head)), None)
