"""The text of a program without its captions: what a record of a run belongs to, and where lines are counted.

Docstrings, comments and the texts for readers may be rewritten at any time. No record is older for that, and no line of
a record points elsewhere: lines are counted from the beginning of their top-level statement, lines of code only.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache

from registry.dependencies import bound_names, first_line, is_text

CAPTIONS = frozenset({"TITLE", "ORDER", "NO_FIX", "REACH", "NEIGHBOUR"})
"""Constants that only readers need."""
REASONS = frozenset({"GRADIENT", "EFFECTS", "OPAQUE", "LIMITS", "COVERAGE"})
"""Constants that count for the runner, but not their wording."""


@cache  # it is asked for when a program is parsed, and when it is taken apart
def program_text(source: str) -> ProgramText:
    """One program, read once."""
    return ProgramText(source)


class ProgramText:
    """The text of one program."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._module = ast.parse(source)
        self._ends = _ends_of_code(source)
        self._statements = [
            (names, list(self._lines_of(node)))
            for node in self._module.body
            if not is_text(node) and not (names := bound_names(node)) & CAPTIONS
        ]

    @property
    def sha256(self) -> str:
        """Of the code."""
        content = "\n".join(
            self._reason(*names & REASONS) if names & REASONS else "\n".join(map(self._code, lines))
            for names, lines in self._statements
        )
        return hashlib.sha256(content.encode("utf-8")).hexdigest()

    @property
    def sha256_with_lines(self) -> str:
        """Of the code and of the lines where it stands: a message that a program printed names them."""
        code = [(line, self._code(line)) for _, lines in self._statements for line in lines]
        return hashlib.sha256(repr(code).encode("utf-8")).hexdigest()

    def place(self, line: int) -> tuple[str, int] | None:
        """(name of the top-level statement, which of its lines, from 1); None if the line has no code."""
        for names, lines in self._statements:
            if line in lines:
                return min(names, default=""), lines.index(line) + 1
        return None

    @property
    def code_lines(self) -> dict[str, tuple[int, ...]]:
        """Name of each top-level statement, as `place` has it -> its lines of code."""
        return {min(names, default=""): tuple(lines) for names, lines in reversed(self._statements)}

    def _lines_of(self, node: ast.stmt) -> Iterator[int]:
        first = first_line(node)
        captions = _captions_in(node)
        lines = range(first, (node.end_lineno or first) + 1)
        return (line for line in lines if self._ends.get(line, 1) and line not in captions)

    def _code(self, line: int) -> str:
        return self._lines[line - 1][: self._ends.get(line)].rstrip()

    def _reason(self, name: str) -> str:
        """Of which fixes it speaks, and of which inputs; a text speaks of the program."""
        assigned = (node for node in self._module.body if isinstance(node, ast.Assign) and name in bound_names(node))
        return f"{name} {sorted(_keys(next(assigned).value))}"


def _keys(value: ast.expr) -> Iterator[str]:
    """The keys of a dictionary, each with the keys of what it has, as they are written."""
    pairs = zip(value.keys, value.values, strict=True) if isinstance(value, ast.Dict) else ()
    for key, said in ((ast.unparse(key), said) for key, said in pairs if key):
        yield from [f"{key} {inner}" for inner in _keys(said)] or [key]


def _ends_of_code(source: str) -> dict[int, int]:
    """Where a comment begins, by line: 0 for a line that is nothing but a comment, or blank."""
    ends: dict[int, int] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            line, column = token.start
            ends.setdefault(line, column if token.line[:column].strip() else 0)
    return ends


def _captions_in(node: ast.AST) -> set[int]:
    """The lines of the docstrings in a statement."""
    captions: set[int] = set()
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and is_text(node.body[0]):
        captions.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    inside = (inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.expr))
    return captions.union(*map(_captions_in, inside))
