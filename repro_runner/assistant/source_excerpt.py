"""The user's own lines around a break: the function it is in, and what the file imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from repro_runner.explain.site import Site

_MOST_LINES = 120
_AROUND = 30
"""Lines before and after the break, where it is in no function, or in a very long one."""
_NOT_THE_USERS = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Part of one file."""

    file: str
    line: int
    imports: str
    code: str
    whole: str
    """The file, for a patch to be applied to; it is not sent."""


def read_excerpt(site: Site) -> Excerpt | None:
    """Of the user's file nearest to the break: its own, or the caller's where it is in a library; None if none is."""
    places = [(site.file, site.line), *((frame.file, frame.line) for frame in reversed(site.stack))]
    for file, line in places:
        path = Path(file)
        if _NOT_THE_USERS.intersection(path.parts) or path.suffix != ".py":
            continue
        try:
            whole = path.read_text("utf-8")
            return make_excerpt(str(path), line, whole)
        except (OSError, ValueError, SyntaxError):
            continue  # gone, or changed since the program ran
    return None


def make_excerpt(file: str, line: int, whole: str) -> Excerpt:
    """Of this text; SyntaxError if it does not parse."""
    tree = ast.parse(whole)
    lines = whole.splitlines()
    first, last = _function_around(tree, line) or (line - _AROUND, line + _AROUND)
    if last - first >= _MOST_LINES:
        first, last = max(first, line - _AROUND), min(last, line + _AROUND)
    imports = (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return Excerpt(
        file=file,
        line=line,
        imports="\n".join(ast.unparse(node) for node in imports),
        code="\n".join(lines[max(0, first - 1) : last]),
        whole=whole,
    )


def _function_around(tree: ast.Module, line: int) -> tuple[int, int] | None:
    """The innermost function with this line in it, from its decorators on; a method comes with its class if that is
    short: what it reads is set there."""
    found: tuple[int, int] | None = None
    for node in ast.walk(tree):  # outer before inner
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        last = node.end_lineno or node.lineno
        short_class = isinstance(found, tuple) and found[1] - found[0] < _MOST_LINES
        if first <= line <= last and not short_class:
            found = (first, last)
    return found
