"""Registry text that is Python source: what upstream's extractor could not evaluate, and torch never prints."""

from __future__ import annotations

import ast


def is_source_code(text: str) -> bool:
    """`msg`, `str(value)`, `"a " + b`. A template (`next({self})`) is text, and so is a sentence."""
    expression = _parse(text.strip())
    if text.lstrip()[:2] in ('f"', "f'") or text.lstrip()[:1] in ('"', "'"):
        return isinstance(expression, ast.Constant | ast.JoinedStr | ast.BinOp)
    return "{" not in text and isinstance(expression, ast.Name | ast.Attribute | ast.Call | ast.BinOp)


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
