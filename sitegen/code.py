"""Syntax highlighting for pages that are generated as HTML. It happens here, so that both builds show the same."""

from __future__ import annotations

import html
from functools import cache

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

LINE_END = "&#10;"
"""Of the lines inside a `<pre>`: no Markdown reader finds a blank line then."""
_PLAIN = frozenset({"", "n", "p", "w", "nv", "py"})
_LIQUID = str.maketrans({"{": "&#123;", "}": "&#125;"})


def highlight(code: str) -> str:
    """Return the inside of a `<pre>`, in one line of text."""
    return LINE_END.join(_highlighted_lines(code))


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
