"""Other people's text in Markdown: nothing in it means anything there."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~!&]|(?<![^\W_])_|_(?![^\W_]))")
"""An underscore between letters means nothing."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Control characters, and those that turn the direction of text."""


def plain(text: str) -> str:
    """As one line of ordinary text."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def prose(text: str) -> str:
    """Words of ours that quote code between backticks: that stays code, and nothing else means anything."""
    parts = re.split(r"`([^`]+)`", one_line(text))
    return "".join(code(part) if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """As a code span of one line."""
    text = one_line(text)
    if not text:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def cell(markdown: str) -> str:
    """Fit for a cell of a table: there a bar ends the cell, in a code span too."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def fence(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text."""
    text = _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n").replace("\r", "\n"))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def one_line(text: str) -> str:
    """Without line breaks, and without characters that nobody sees."""
    return " ".join(_UNSEEN.sub(" ", text).split())
