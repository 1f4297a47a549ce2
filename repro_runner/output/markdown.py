"""Other people's text in GitHub-flavoured Markdown: nothing in it means anything there."""

from __future__ import annotations

import re

from repro_runner.output.html import fit_for_html

_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(r"([\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_]))")
"""An underscore between letters means nothing."""
_LINKED_BY_GITHUB = re.compile(r"[@#$]|:(?=//)|(?<=www)\.")
_STARTS_A_BLOCK = re.compile(r"([#>+=:-]|\d+(?=[.)](?:\s|$)))")


def plain(text: str) -> str:
    """As one line of ordinary text."""
    return _without_block(_escaped(one_line(text)))


def prose(text: str) -> str:
    """One paragraph in which only `code` between two backticks is markup."""
    pieces = split_code(one_line(text))
    return _without_block("".join(code(piece) if is_code else _escaped(piece) for is_code, piece in pieces))


def split_code(text: str) -> list[tuple[bool, str]]:
    """(whether it stood between two backticks, text): torch and the registry write code so."""
    return [(bool(place % 2), piece) for place, piece in enumerate(_CODE.split(text)) if piece]


def code(text: str) -> str:
    """A span of code, whatever backticks are in it; empty for nothing."""
    words = one_line(text)
    if not words:
        return ""
    ticks = "`" * (_longest_ticks(words) + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def cell(markdown: str) -> str:
    """Fit for a cell of a table: there a bar ends the cell, in a span of code too."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def fence(text: str, language: str = "") -> str:
    """A block of code behind a fence longer than any in it."""
    ticks = "`" * max(3, _longest_ticks(text) + 1)
    return f"{ticks}{language}\n{_fit(text).rstrip()}\n{ticks}"


def one_line(text: str) -> str:
    """Without line breaks, and with characters that nobody sees spelt out."""
    return " ".join(_fit(text).split())


def _fit(text: str) -> str:
    return str(fit_for_html(text.replace("\r\n", "\n"))).replace("\r", "\\r")


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINKED_BY_GITHUB.sub(_alone, _MARKUP.sub(r"\\\1", text))


def _alone(found: re.Match[str]) -> str:
    """In an element of its own, so that it is no mention, reference, formula or link with what follows."""
    return f"<span>{found[0]}</span>"


def _without_block(text: str) -> str:
    """What would begin a heading, a list or a quote is written as entities."""
    return _STARTS_A_BLOCK.sub(_entities, text, count=1) if _STARTS_A_BLOCK.match(text) else text


def _entities(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(each)};" for each in found[0])


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
