"""The lines of a tt-xla log that are read: stage headers, end markers, errors, places in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

END = b"END OF MLIR MODULE"
HEADER = re.compile(
    rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9} \( *[\d.]+s\) \[ *([^\]\n]{0,40})\] +([\w./-]+):\d+ +(\w{1,8})\|"
    rb" ?([^\r\n]*)"
)
"""Thread, file, level, text. The level of a line that is printed only on request is a number: 1 is DEBUG."""
LOCATION = re.compile(
    rb'loc\("(?:'
    rb'(?:-?\d{1,9}\|)?(?:[^"|\n]*\]\|)*([^"|\n]+\.py):(\d{1,9})(?:\|([^"|\n]*)\|(-?\d{1,9})\|[^"\n]*)?"'
    rb'|([^"\n]+\.py)":(\d{1,9}):\d+)'
)
"""`loc("a.py:12")`; tt-xla's own form `loc("3|Net[net]|a.py:10|forward|12|aten__add")`; MLIR's `loc("a.py":12:4)`."""
COMPILER = "module_builder.cc"
EVENTS = (f"{COMPILER}:".encode(), END, b"ERR|")
"""Signs of the lines that are read one by one. COMPILER prints all stage headers, in old and in new logs."""
DIAGNOSTICS = (b": error: ", b"| critical |")
"""Signs of a compiler message before an error line, and of an error of the runtime."""

_STAGE = re.compile(rb"MLIR Module (\w{1,60}):|(VHLO|SHLO|TTIR|TTNN) Module(?: after (\w+) StableHLO pipeline)?:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of tt-xla's logger."""

    thread: str
    file: str
    """The source file of tt-xla that logged it."""
    level: str
    text: str
    stage: str
    """vhlo, shlo, … if this is the header of a stage; else empty."""


def read_line(line: bytes) -> Line | None:
    """Parse a line of tt-xla's logger; None for any other line."""
    header = HEADER.search(line, 0, 2000)
    if header is None:
        return None
    stage = _STAGE.match(header[4])
    return Line(
        thread=header[1].strip().decode("ascii", "replace"),
        file=header[2].decode("ascii", "replace"),
        level=header[3].decode("ascii", "replace"),
        text=header[4].decode("utf-8", "replace").strip(),
        stage=_stage_name(stage) if stage else "",
    )


def _stage_name(stage: re.Match[bytes]) -> str:
    """The name of a stage. New logs contain the name, old logs contain a sentence."""
    if stage[1]:
        return stage[1].decode()
    name = stage[2].decode().lower()
    return f"{name}_{stage[3].decode()}" if stage[3] else name


def find_lines(text: bytes, signs: Iterable[bytes]) -> list[int]:
    """The sorted start positions of the lines that contain one of these signs."""
    starts: set[int] = set()
    for sign in signs:
        at = text.find(sign)
        while at >= 0:
            starts.add(text.rfind(b"\n", 0, at) + 1)
            end = text.find(b"\n", at)
            at = text.find(sign, end) if end >= 0 else -1
    return sorted(starts)
