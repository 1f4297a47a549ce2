"""Python for a page: highlighted when it is generated, so that every build shows it alike, with marked lines."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Sequence
from functools import cache

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

from registry.snippets import Snippet

BREAKS = "here"
"""Class of the line at which the graph breaks."""
CHANGED = "changed"
"""Class of a line that only this version has."""

LINE_END = "&#10;"
"""Of the lines inside a `<pre>`: no Markdown reader finds a blank line then."""
_PLAIN = frozenset({"", "n", "p", "w", "nv", "py"})
_LIQUID = str.maketrans({"{": "&#123;", "}": "&#125;"})


def highlight(code: str, marks: Sequence[str] = ()) -> str:
    """Return the inside of a `<pre>`, in one line of text.

    `marks` gives a class per line; empty for none.
    """
    lines = _highlighted_lines(code)
    shown = []
    for number, line in enumerate(lines):
        mark = marks[number] if number < len(marks) else ""
        shown.append(f'<span class="{mark}">{line}</span>' if mark else line)
    return LINE_END.join(shown)


@cache
def _lexer() -> PythonLexer:
    return PythonLexer(stripnl=False, ensurenl=False)


@cache  # the imports, and the call at the end, are the same on many cards
def _highlighted_lines(code: str) -> tuple[str, ...]:
    lines = [""]
    for token, text in _lexer().get_tokens(code):
        name = _class_name(token)
        first, *rest = (escape_code(piece) for piece in text.split("\n"))
        lines[-1] += _span(name, first)
        lines += [_span(name, piece) for piece in rest]
    return tuple(lines)


def _class_name(token: _TokenType) -> str:
    name = next((STANDARD_TYPES[kind] for kind in reversed(token.split()) if kind in STANDARD_TYPES), "")
    return "" if name in _PLAIN else name


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{text}</span>' if name and text else text


def escape_code(text: str) -> str:
    """For text inside `<pre>`, where Markdown has no say: HTML's own characters, and Liquid's."""
    return html.escape(text, quote=False).translate(_LIQUID).replace("\n", LINE_END)


def broken_marks(broken: Snippet, line: int | None) -> list[str]:
    """Mark the line at which the graph breaks, as far as a run has told."""
    return [BREAKS if at and at == line else "" for at, _ in broken.lines]


def changed_marks(fix: Snippet, broken: Snippet) -> list[str]:
    """Mark what a fix does otherwise; that it has another name is no difference."""
    ours, theirs = _comparable(fix), _comparable(broken)
    matcher = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
    same = {at for block in matcher.get_matching_blocks() for at in range(block.b, block.b + block.size)}
    return [CHANGED if at not in same and text.strip() else "" for at, text in enumerate(ours)]


def _comparable(snippet: Snippet) -> list[str]:
    definition = re.compile(rf"def {snippet.name}\b")
    return [definition.sub("def function", text) for _, text in snippet.lines]
