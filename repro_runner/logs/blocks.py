"""The bytes of a log, whatever it is wrapped in, as blocks of whole lines: memory does not grow with the log.

A block ends with a line feed, unless it is the last one, or a piece of a line that is longer than a block: such a line
goes on in the next block."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

BLOCK = 4 * 1024 * 1024
"""Bytes in a block, about."""
HEAD = 256 * 1024
"""Bytes by which a format is recognised."""
_CHUNK = 1024 * 1024
_WORD_ENDS = (b"\r", b" ", b",")
"""Where a line that has to be cut may be: after a progress bar, a word or an item, so that none is torn apart."""
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_STEP = 1024
"""Packed bytes that are unpacked at a time: gzip makes at most 1 MiB of so few, zstd 32. Damage costs no more."""
_ZSTD_WINDOW = 128 * 1024 * 1024
"""What `zstd --long` writes; a file that asks for more memory is refused."""
_STRING = rb'("[^"\\\n]*(?:\\[^\n][^"\\\n]*)*")'


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


class Torn(Exception):
    """The packed bytes are damaged or end too early; what came before was given."""


class _Member(Protocol):
    """One of several packed files in a row, as one file may hold them."""

    @property
    def ended(self) -> bool: ...

    @property
    def rest(self) -> bytes:
        """What follows its end."""

    def expand(self, packed: bytes) -> Iterator[bytes]:
        """Give the bytes in small pieces; Torn for what is damaged."""


def unpack(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The text in these bytes, known by the first of them; what is not wrapped stays as it is."""
    first = next(chunks, b"")
    if first.startswith(_GZIP):
        yield from _unpack_members(first, chunks, _Gzip, "gzip")
    elif first.startswith(_ZSTD):
        yield from _unpack_members(first, chunks, _Zstd, "zstd")
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # what PowerShell makes of `2> log.txt`
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        yield decoder.decode(first).encode("utf-8", "replace")
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "replace")
    elif first:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks


def _unpack_members(first: bytes, chunks: Iterator[bytes], begin: Callable[[], _Member], name: str) -> Iterator[bytes]:
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
        raise Torn(f"the {name} data ends too early")


class _Gzip:
    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(wbits=31)
        self.rest = b""

    @property
    def ended(self) -> bool:
        return self._inflater.eof

    def expand(self, packed: bytes) -> Iterator[bytes]:
        for at in range(0, len(packed), _STEP):
            try:
                text = self._inflater.decompress(packed[at : at + _STEP])
            except zlib.error as error:
                raise Torn(f"the gzip data is damaged ({error})") from error
            yield text
            if self.ended:
                self.rest = self._inflater.unused_data + packed[at + _STEP :]
                return


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        self._damaged = zstandard.ZstdError
        self._inflater: Any = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        self.rest = b""

    @property
    def ended(self) -> bool:
        return bool(self._inflater.eof)

    def expand(self, packed: bytes) -> Iterator[bytes]:
        for at in range(0, len(packed), _STEP):
            try:
                text = self._inflater.decompress(packed[at : at + _STEP])
            except self._damaged as error:
                raise Torn(f"the zstd data is damaged ({error})") from error
            yield text
            if self.ended:
                self.rest = self._inflater.unused_data + packed[at + _STEP :]
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoting:
    """One way to keep lines in JSON."""

    sign: re.Pattern[bytes]
    """How a log begins that is kept so."""
    line: re.Pattern[bytes]
    """A line of JSON that holds text; the first group is the string."""
    whole_lines: bool
    """Whether every string is a line, also one that has no line end of its own."""
    note: str = ""

    def unquote(self, block: bytes) -> bytes:
        """The text in a block of lines; a line that holds no text stays as it is."""
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
    """How the lines of an input that starts with these bytes are kept; None for plain text."""
    return next((each for each in (_DOCKER, _NOTEBOOK) if each.sign.match(head)), None)
