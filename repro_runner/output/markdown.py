"""Text from programs in GitHub-flavoured Markdown: it is escaped, so that none of it becomes markup."""

from __future__ import annotations

import re

from repro_runner.output.html import fit_for_html

_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(r"([\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_]))")
"""Characters that are markup. An underscore between letters is not."""
_LINKED_BY_GITHUB = re.compile(r"[@#$]|:(?=//)|(?<=www)\.")
_STARTS_A_BLOCK = re.compile(r"([#>+=:-]|\d+(?=[.)](?:\s|$)))")


def plain(text: str) -> str:
    """The text as one line without any markup."""
    return _escape_block_start(_escaped(one_line(text)))


def prose(text: str) -> str:
    """One paragraph in which only `code` between two backticks is markup."""
    pieces = split_code(one_line(text))
    return _escape_block_start("".join(code(piece) if is_code else _escaped(piece) for is_code, piece in pieces))


def split_code(text: str) -> list[tuple[bool, str]]:
    """Split a text into (is code, piece). Code stands between two backticks, as torch and the registry write it."""
    return [(bool(place % 2), piece) for place, piece in enumerate(_CODE.split(text)) if piece]


def code(text: str) -> str:
    """The text as a span of code, even if it contains backticks; empty for an empty text."""
    words = one_line(text)
    if not words:
        return ""
    ticks = "`" * (_longest_ticks(words) + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def cell(markdown: str) -> str:
    """Escape `|` for a cell of a table, where it would end the cell, even inside a span of code."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def fence(text: str, language: str = "") -> str:
    """The text as a block of code. The fence is longer than any run of backticks in the text."""
    ticks = "`" * max(3, _longest_ticks(text) + 1)
    return f"{ticks}{language}\n{_spelt_out(text).rstrip()}\n{ticks}"


def one_line(text: str) -> str:
    """The text without line breaks, and with invisible characters spelt out."""
    return " ".join(_spelt_out(text).split())


def _spelt_out(text: str) -> str:
    return str(fit_for_html(text.replace("\r\n", "\n"))).replace("\r", "\\r")


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINKED_BY_GITHUB.sub(_in_span, _MARKUP.sub(r"\\\1", text))


def _in_span(found: re.Match[str]) -> str:
    """Put the character into its own element, so that it does not start a mention, reference, formula or link."""
    return f"<span>{found[0]}</span>"


def _escape_block_start(text: str) -> str:
    """Write the characters that would start a heading, a list or a quote as entities."""
    return _STARTS_A_BLOCK.sub(_entities, text, count=1) if _STARTS_A_BLOCK.match(text) else text


def _entities(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(each)};" for each in found[0])


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
