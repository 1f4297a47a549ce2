"""Calls of `torch._dynamo.graph_break()`: taken out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target
from repro_runner.fix_report.patches.source import Edit, Source

_NAMES = {"torch._dynamo.graph_break", "torch.compiler.graph_break", "_dynamo.graph_break", "graph_break"}


def find_explicit_breaks(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """A patch per call at which graphs were seen to break."""
    for target in targets:
        for statement in source.statements_at(target.line) if target.line else ():
            if _is_call(statement):
                yield Patch(
                    title="the call of `graph_break()` is taken out",
                    targets=(target,),
                    edits=(_removed(source, statement),),
                )


def _is_call(statement: ast.stmt) -> bool:
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and ast.unparse(called.func) in _NAMES


def _removed(source: Source, statement: ast.stmt) -> Edit:
    """The whole line goes if nothing else is on it; a comment stays. A block that would be empty gets a `pass`."""
    start, end = source.start(statement), source.end(statement)
    line_start, line_end = source.line_start(statement.lineno), source.line_start((statement.end_lineno or 0) + 1)
    rest = source.text[end:line_end]
    alone = not source.text[line_start:start].strip() and not re.match(r"[ \t]*[^#\s]", rest)
    if not alone or all(map(_is_call, source.block_of(statement))):
        return Edit(start=start, end=end, text="pass")
    if rest.strip():
        return Edit(start=start, end=end + len(rest) - len(rest.lstrip(" \t")), text="")
    return Edit(start=line_start, end=line_end, text="")
