"""Read the records of a structured trace from blocks of bytes.

A record is a line of glog and JSON, then its payload, indented with tabs. Nearly all of a trace is payload that is not
needed here. One search for lines without a tab skips it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HEADER = re.compile(
    rb"(?:\[rank(\d{1,9})\]: ?)?[VDIWEFC]\d{4} \d\d:\d\d:\d\d\.\d{1,9} (\d{1,20}) [^\]\n]{1,300}\] ?"
    rb'(?=\{"(\w{1,80})": ?(?:\{"name": ?"(\w{1,300})")?)'
)
KINDS = frozenset({b"compilation_metrics", b"dynamo_output_graph", b"dynamo_start", b"str"})
ARTIFACTS = frozenset({b"dynamo_graph_break_reason", b"recompile_reasons", b"dynamo_error", b"torch_version"})
"""The payload of these records is read, too."""
LONGEST_LINE = 32 * 1024 * 1024
LONGEST_PAYLOAD = 1024 * 1024
"""A break's payload has a few kilobytes. A longer payload is cut here."""

_UNINDENTED = re.compile(rb"\n(?!\t)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRecord:
    """One record about breaks, graphs or compilations."""

    kind: str
    """The first key of its JSON. For an artifact, the artifact's name."""
    metadata: dict[str, Any]
    payload: str
    line: int
    pid: int
    rank: int | None


@dataclass(slots=True)
class Damage:
    """Counts of what could not be read."""

    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return "; ".join(f"{what}: {count}" for what, count in sorted(self.counts.items()))


@dataclass(slots=True)
class _Open:
    """A record whose payload is not complete yet."""

    kind: str
    metadata: dict[str, Any]
    line: int
    pid: int
    rank: int | None
    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, part: bytes) -> None:
        if self.size < LONGEST_PAYLOAD:
            self.parts.append(part[: LONGEST_PAYLOAD - self.size])
        self.size += len(part)


class RecordReader:
    """Turns blocks into records. A block may end anywhere, and a line may have any length."""

    def __init__(self) -> None:
        self.damage = Damage()
        self.lines = 0
        self._open: _Open | None = None
        self._tail = b""

    def feed(self, block: bytes) -> Iterator[TraceRecord]:
        """Yield the records that end in this block. Read them all before you feed the next block."""
        block = self._tail + block if self._tail else block
        end = block.rfind(b"\n") + 1
        if end:
            yield from self._read(block, end)
        self._tail = self._bounded(block[end:])

    def finish(self) -> Iterator[TraceRecord]:
        """Yield the last record, and note in `damage` if the trace was cut there."""
        if self._tail:
            if not self._tail.startswith(b"\t"):
                self.damage.counts["last line cut"] += 1
            rest, self._tail = self._tail + b"\n", b""
            yield from self._read(rest, len(rest))
        yield from self._close()

    def _bounded(self, tail: bytes) -> bytes:
        """An incomplete line, without the part that is not needed."""
        if tail.startswith(b"\t") and self._open is None:
            return b"\t"
        return tail if len(tail) <= LONGEST_LINE else tail[:LONGEST_LINE]

    def _read(self, block: bytes, end: int) -> Iterator[TraceRecord]:
        """Go from one unindented line to the next. The lines between them are the payload of the first."""
        payload, counted = 0, 0
        for start in self._unindented(block, end):
            header = HEADER.match(block, start, end)
            if self._open is not None:
                self._open.add(block[payload:start])
            payload = block.find(b"\n", start) + 1
            if header is None:
                self._note_foreign(block[start:payload])
                continue
            yield from self._close()
            if header[3] in KINDS or header[4] in ARTIFACTS:
                self.lines += block.count(b"\n", counted, start)
                counted = start
                self._begin(header, block[header.end() : payload])
        if self._open is not None:
            self._open.add(block[payload:end])
        self.lines += block.count(b"\n", counted, end)

    @staticmethod
    def _unindented(block: bytes, end: int) -> Iterator[int]:
        if not block.startswith(b"\t"):
            yield 0
        for line in _UNINDENTED.finditer(block, 0, end - 1):
            yield line.end()

    def _note_foreign(self, line: bytes) -> None:
        """Count a line that is not part of a trace, such as a print into the same file or half a record."""
        if line.strip():
            self.damage.counts["lines that are no trace's"] += 1

    def _begin(self, header: re.Match[bytes], text: bytes) -> None:
        try:
            metadata = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self.damage.counts["records with JSON that can't be read"] += 1
            return
        rank = metadata.get("rank")
        if not isinstance(rank, int):
            rank = int(header[1]) if header[1] else None
        kind = (header[4] if header[3] == b"artifact" else header[3]).decode()
        self._open = _Open(kind, metadata, self.lines + 1, int(header[2]), rank)

    def _close(self) -> Iterator[TraceRecord]:
        record, self._open = self._open, None
        if record is None:
            return
        payload = b"".join(record.parts)[1:].replace(b"\n\t", b"\n").removesuffix(b"\n")
        expected = record.metadata.get("has_payload")
        if expected and not record.size:
            self.damage.counts["payloads that are missing"] += 1
        elif expected and record.kind.encode() in ARTIFACTS and not _is_whole(payload, expected):
            self.damage.counts["payloads that were altered or cut"] += 1
        yield TraceRecord(
            kind=record.kind,
            metadata=record.metadata,
            payload=payload.decode("utf-8", "replace").replace("\r\n", "\n"),
            line=record.line,
            pid=record.pid,
            rank=record.rank,
        )


def _is_whole(payload: bytes, md5: object) -> bool:
    """Whether the payload has the hash that torch wrote. Line ends may have been changed."""
    texts = (payload, payload.removesuffix(b"\r").replace(b"\r\n", b"\n"))
    return any(hashlib.md5(text, usedforsecurity=False).hexdigest() == md5 for text in texts)
