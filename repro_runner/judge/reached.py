"""Which parts of a program ran: statements, arms of conditional expressions, operands of `and` and `or`.

The child notes the positions of the instructions that it ran. Which parts of the text they are is found elsewhere.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Position = tuple[int, int, int, int]
"""First line, first column, last line, last column."""


@contextlib.contextmanager
def noted(positions: Mapping[str, set[Position]], lines: set[int]) -> Iterator[None]:
    """Add the position and the line of every instruction that runs inside the block, for code of these files."""
    ran: dict[types.CodeType, set[int]] = {}

    def trace(frame: types.FrameType, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename not in positions:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            ran.setdefault(frame.f_code, set()).add(frame.f_lasti)
        elif event == "line":
            lines.add(frame.f_lineno)
            if sys.version_info < (3, 11):
                positions[frame.f_code.co_filename].add((frame.f_lineno, 0, frame.f_lineno, 1 << 20))
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 looks for opcodes only if some frame wants them already
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        for code, offsets in ran.items():
            positions[code.co_filename].update(_positions(code, offsets))


def _positions(code: types.CodeType, offsets: set[int]) -> Iterator[Position]:
    if sys.version_info < (3, 11):
        return
    for at, (line, last, column, end) in enumerate(code.co_positions()):
        if 2 * at in offsets and None not in (line, last, column, end):
            yield line, column, last, end
            if code.co_code[2 * at] in _FAILING:
                yield _failure(line)


_FAILING = {dis.opmap[name] for name in ("LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT") if name in dis.opmap}
"""What makes the error of an `assert`. Its position is that of the condition, or of the whole, as Python's release."""


def _failure(line: int) -> Position:
    return line, -1, line, -1


@dataclass(frozen=True, slots=True)
class Unreached:
    """A part of a program that nothing ran."""

    line: int
    text: str
    last: int
    """Its last line."""


def unreached(source: str, positions: set[Position], within: str = "") -> tuple[Unreached, ...]:
    """The parts of the text that did not run, outermost only; inside of the top-level statement `within`, if named."""
    if sys.version_info < (3, 11):  # only lines are known
        positions = {(line, 0, last, 1 << 20) for line, _, last, _ in positions}
    module = ast.parse(source)
    roots = [node for node in module.body if not within or getattr(node, "name", "") == within]
    compiled = set(_all_positions(compile(source, "program", "exec", dont_inherit=True)))
    found: list[Unreached] = []
    for root in roots:
        _collect(root, positions, compiled, found)
    return tuple(dict.fromkeys(found))


def _all_positions(code: types.CodeType) -> Iterator[Position]:
    yield from _positions(code, {2 * at for at in range(len(code.co_code) // 2)})
    if sys.version_info < (3, 11):
        yield from ((line, 0, line, 1 << 20) for _, _, line in code.co_lines() if line)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _all_positions(inner)


def _collect(node: ast.AST, ran: set[Position], compiled: set[Position], found: list[Unreached]) -> None:
    if isinstance(node, ast.Assert) and node.msg is None:
        fails = {_failure(line) for line in range(node.lineno, _span(node)[2] + 1)}
        if fails & compiled and not fails & ran:
            found.append(Unreached(node.lineno, f"{ast.unparse(node)} fails", _span(node)[2]))
    for part in _parts(node):
        if _is_part(part) and _has(part, compiled) and not _has(part, ran):
            said = " fails" if isinstance(node, ast.Assert) else ""
            shown = node if isinstance(node, ast.Assert | ast.Compare) else part
            first, _, last, _ = _span(shown)
            found.append(Unreached(first, ast.unparse(shown).splitlines()[0] + said, last))
        else:
            _collect(part, ran, compiled, found)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside, but for docstrings, annotations and default arguments."""
    for name, value in ast.iter_fields(node):
        if name in ("args", "returns", "decorator_list", "annotation") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield _Arm(child) if _is_arm(node, name, child) else child


class _Arm(ast.Expr):
    """An expression that may run or not."""

    _fields = ("inside",)

    def __init__(self, inside: ast.AST) -> None:
        super().__init__(inside)  # type: ignore[arg-type]
        self.inside = inside
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            setattr(self, name, getattr(inside, name))


def _is_arm(node: ast.AST, name: str, child: ast.AST) -> bool:
    if isinstance(node, ast.IfExp):
        return name in ("body", "orelse")
    if isinstance(node, ast.BoolOp):
        return name == "values" and child is not node.values[0]
    if isinstance(node, ast.Compare):  # 0 < x < 5
        return name == "comparators" and child is not node.comparators[0]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return name in ("elt", "value")
    return (isinstance(node, ast.Lambda) and name == "body") or (isinstance(node, ast.Assert) and name == "msg")


def _is_part(node: ast.AST) -> bool:
    return isinstance(node, _Arm | ast.stmt) and not isinstance(node, ast.Pass | ast.Global | ast.Nonlocal)


def _has(node: ast.AST, positions: set[Position]) -> bool:
    """Whether some position lies within the node."""
    line_, column_, end_, to_ = _span(node)
    first, last = (line_, column_), (end_, to_)
    return any(first <= (line, column) and (end, to) <= last for line, column, end, to in positions)


def _span(node: ast.AST) -> Position:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
