"""Wordings as templates: registry text whose `{placeholders}` stand for any text."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from registry.message_layout import SPACE

Kind = Literal["type", "explanation", "context", "line", "form"]

ANYTHING = "\0"
INFORMATIVE = 4
"""Letters and digits a template needs outside its placeholders to tell candidates apart."""
DISTINCTIVE = 12
"""Letters and digits it needs to propose a candidate by itself."""
_WORD = re.compile(r"[A-Za-z]{2,}")
SOURCE = re.compile(r"[A-Za-z_][\w.]*(?:\(.*\))?", re.DOTALL)


def collapse(text: str) -> str:
    """Without white space and backticks, as texts are compared: terminals wrap lines, even within a word, and Markdown
    takes the backticks."""
    return SPACE.sub("", text)


@dataclass(frozen=True, slots=True)
class Template:
    """A registry text as the literals between its placeholders."""

    literals: tuple[str, ...]
    open_start: bool
    open_end: bool

    weight: int
    """How much it says: letters and digits outside placeholders."""

    @property
    def exact(self) -> bool:
        return len(self.literals) == 1 and not (self.open_start or self.open_end)

    def matches(self, text: str) -> bool:
        """Whether `text`, collapsed, is this template with its placeholders filled; each literal is sought once."""
        first, last = self.literals[0], self.literals[-1]
        if self.exact:
            return text == first
        if not (self.open_start or text.startswith(first)) or not (self.open_end or text.endswith(last)):
            return False
        at, end = 0, len(text)
        sought = self.literals
        if not self.open_start:
            at, sought = len(first), sought[1:]
        if not self.open_end:
            end, sought = end - len(last), sought[:-1]
        for literal in sought:
            at = text.find(literal, at, end)
            if at < 0:
                return False
            at += len(literal)
        return at <= end


def make_template(text: str, kind: Kind) -> Template | None:
    """Return None for a text that says nothing: empty, one placeholder, or Python source for a whole field."""
    marked = mark_placeholders(_evaluate(text)) if text[:1] in {'"', "'", "f"} else mark_placeholders(text)
    if ANYTHING not in marked and _is_source(marked, kind):
        return None
    pieces = collapse(marked).split(ANYTHING)
    literals = tuple(piece for piece in pieces if piece)
    weight = sum(map(str.isalnum, "".join(literals)))
    template = Template(literals, not pieces[0], not pieces[-1], weight)
    if kind == "type":  # compared as a whole line, any title will do; with a placeholder it has to stand alone
        return template if literals and (template.exact or weight >= DISTINCTIVE) else None
    if kind == "form" and template.exact:
        return template
    return template if weight >= INFORMATIVE else None


def fixed_words(text: str) -> int:
    """How many words of at least two letters stand outside of placeholders."""
    return len(_WORD.findall(mark_placeholders(text)))


def mark_placeholders(text: str) -> str:
    """Put ANYTHING for each `{expression}`, which may hold braces and quotes; a brace that stays open is text."""
    text = text.replace(ANYTHING, " ")
    pieces, at = [], 0
    while (start := text.find("{", at)) >= 0:
        end = _end_of_placeholder(text, start, quotes=True) or _end_of_placeholder(text, start, quotes=False)
        if end is None:
            break
        pieces += [text[at:start], ANYTHING]
        at = end
    return "".join([*pieces, text[at:]])


def _end_of_placeholder(text: str, start: int, *, quotes: bool) -> int | None:
    depth, quote = 0, ""
    for at in range(start, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif quotes and character in "'\"":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _is_source(text: str, kind: Kind) -> bool:
    """`msg`, `str(cause.func)`: what upstream's extractor could not evaluate. A gb_type may well be one word."""
    if kind in ("type", "form"):
        return text.startswith("_") and text.isidentifier()
    return SOURCE.fullmatch(text) is not None and _parse_expression(text) is not None


def _evaluate(text: str) -> str:
    """Join string literals that upstream left as source: `"a {b} " + f"c" + d` is `a {b} c{}`."""
    expression = _parse_expression(text)
    if not isinstance(expression, (ast.Constant, ast.JoinedStr, ast.BinOp)):
        return text
    return _evaluate_node(expression)


def _evaluate_node(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "{}"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_evaluate_node, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _evaluate_node(node.left) + _evaluate_node(node.right)
    return "{}"


def _parse_expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
