"""Logs whose lines are strings in JSON: what Docker keeps of a container, what a notebook keeps of its cells."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_STRING = rb'("[^"\\\n]*(?:\\[^\n][^"\\\n]*)*")'


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
