"""A program's text with its syntax tree, and edits of the text that change no other character."""

from __future__ import annotations

import ast
import bisect
import difflib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_LINE_END = re.compile(r"\r\n|\r|\n")
_FIRST_LINES = re.compile(r"^#(!|.*?coding[:=])")
"""A `#!` line, or a line that names the encoding. They must stay first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


class Source:
    """The text of a program. Raises SyntaxError or ValueError if it can't be parsed."""

    def __init__(self, text: str, encoding: str = "utf-8") -> None:
        self.text = text
        self.encoding = encoding
        self.tree = ast.parse(text)
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    @property
    def newline(self) -> str:
        """The first line end in the file."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    def line_text(self, line: int) -> str:
        """A line without its end."""
        return _LINE_END.sub("", self.text[self.line_start(line) : self.line_start(line + 1)])

    def line_start(self, line: int) -> int:
        """The offset of a line, counted from 1. For a line after the last, the end of the text."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def line_of(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)

    def start(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> int:
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> int:
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """The source text of a node."""
        return self.text[self.start(node) : self.end(node)]

    def indentation(self, node: ast.stmt) -> str:
        """The spaces at the start of a statement's line."""
        before = self.text[self.line_start(node.lineno) : self.start(node)]
        return before if not before.strip() else re.match(r"\s*", before)[0]  # type: ignore[index]

    def comments(self, start: int, end: int) -> list[str]:
        """The comments that start between two offsets."""
        return [text for at, text in self._comments if start <= at < end]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def statements_at(self, line: int) -> Iterator[ast.stmt]:
        """Yield the statements that contain this line, innermost last."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
                yield node

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The block of statements that contains this one."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node; None outside of functions."""
        while (node := self.parents.get(node, self.tree)) is not self.tree:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return node
        return None

    def qualified_name(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The name of a function with the classes around it: `Net.forward`."""
        names, node = [function.name], self.parents[function]
        while isinstance(node, ast.ClassDef):
            names.insert(0, node.name)
            node = self.parents[node]
        return ".".join(names)

    def after_first_lines(self) -> int:
        """The offset after the lines that must stay first."""
        line = 1
        while line <= 2 and line < len(self._starts) and _FIRST_LINES.match(self.line_text(line)):
            line += 1
        return self.line_start(line)

    def _offset(self, line: int, column: int) -> int:
        """The offset of a line and column. Python counts columns in bytes of UTF-8."""
        start = self.line_start(line)
        prefix = self.text[start : start + column].encode("utf-8")[:column]
        return start + len(prefix.decode("utf-8", "ignore"))

    @cached_property
    def _comments(self) -> list[tuple[int, str]]:
        found = tokenize.generate_tokens(io.StringIO(_LINE_END.sub("\n", self.text)).readline)
        return [
            (self.line_start(token.start[0]) + token.start[1], token.string)
            for token in found
            if token.type == tokenize.COMMENT
        ]


def read_source(path: Path) -> Source:
    """Read a program as Python does. Raises OSError, SyntaxError or ValueError."""
    content = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return Source(content.decode(encoding), encoding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The text after edits. It can map old line numbers to new ones."""

    text: str
    _line_starts: tuple[int, ...]
    _edits: tuple[Edit, ...]

    def line(self, before: int) -> int:
        """The new number of a line. For a line that was replaced, the number of its replacement."""
        at = self._line_starts[before - 1]
        moved = sum(len(edit.text) - (edit.end - edit.start) for edit in self._edits if edit.end <= at)
        inside = next((edit for edit in self._edits if edit.start <= at < edit.end), None)
        if inside is not None:
            moved += inside.start - at
        return len(_LINE_END.findall(self.text, 0, at + moved)) + 1


def apply_edits(source: Source, edits: Iterable[Edit]) -> Edited:
    """Apply all edits. Edits at the same place keep their order. Raises ValueError if two overlap."""
    in_order = sorted(edits, key=lambda edit: (edit.start, edit.end))
    pieces, at = [], 0
    for edit in in_order:
        if edit.start < at:
            raise ValueError("two edits overlap")
        pieces += [source.text[at : edit.start], edit.text]
        at = edit.end
    text = "".join([*pieces, source.text[at:]])
    return Edited(text=text, _line_starts=tuple(source._starts), _edits=tuple(in_order))


def diff_texts(before: str, after: str, path: str) -> str:
    """A unified diff of a file, for `patch` and `git apply`."""
    old, new = (io.StringIO(text).readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
