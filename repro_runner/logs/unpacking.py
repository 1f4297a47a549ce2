"""Undo what a log is wrapped in: gzip, zstd, UTF-16. No few bytes ever become many at once."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_STEP = 1024
"""Packed bytes that are unpacked at a time: gzip makes at most 1 MiB of so few, zstd 32. Damage costs no more."""
_ZSTD_WINDOW = 128 * 1024 * 1024
"""What `zstd --long` writes; a file that asks for more memory is refused."""


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
