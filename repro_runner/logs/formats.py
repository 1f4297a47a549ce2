"""Which kind of log an input is, by its first block."""

from __future__ import annotations

from repro_runner.logs import text, traces, tt_xla
from repro_runner.logs.blocks import HEAD
from repro_runner.logs.model import Format

BINARY = "binary"
FORMATS: tuple[Format, ...] = (traces, tt_xla, text)
"""The first that recognises an input reads it: those that are surest of themselves come first."""

_TEXT = bytes(range(32, 127)) + bytes(range(128, 256)) + b"\a\b\t\n\v\f\r\x1b"
_MOST_OTHERS = 0.05
"""Share of control characters up to which it still is a text, if a damaged one."""


def find_format(head: bytes) -> Format | None:
    """The format of an input that starts with these bytes; None for what is no text at all."""
    first = head[:HEAD]
    if len(first.translate(None, _TEXT)) > _MOST_OTHERS * len(first):
        return None
    return next(each for each in FORMATS if each.recognise(head))
