"""Patches of a program's instructions to the compiler: remove `graph_break()`, set a flag, disable a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target, has_torch
from repro_runner.fix_report.patches.source import Edit, Source

_NAMES = {"torch._dynamo.graph_break", "torch.compiler.graph_break", "_dynamo.graph_break", "graph_break"}


def find_explicit_breaks(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each `graph_break()` call at which graphs broke."""
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
    """Remove the whole line if nothing else is on it. A comment stays. An empty block gets a `pass`."""
    start, end = source.start(statement), source.end(statement)
    line_start, line_end = source.line_start(statement.lineno), source.line_start((statement.end_lineno or 0) + 1)
    rest = source.text[end:line_end]
    alone = not source.text[line_start:start].strip() and not re.match(r"[ \t]*[^#\s]", rest)
    if not alone or all(map(_is_call, source.block_of(statement))):
        return Edit(start=start, end=end, text="pass")
    if rest.strip():
        return Edit(start=start, end=end + len(rest) - len(rest.lstrip(" \t")), text="")
    return Edit(start=line_start, end=line_end, text="")


def find_flags(_source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield one patch for each setting, for all breaks that it is known to fix, in any file."""
    wanted: dict[tuple[str, ...], list[Target]] = {}
    for target in targets:
        if target.settings:
            wanted.setdefault(target.settings, []).append(target)
    for settings, fixed in wanted.items():
        names = ", ".join(f"`{line.partition('=')[0].strip()}`" for line in settings)
        yield Patch(title=f"set {names}", targets=tuple(fixed), settings=settings)


def find_disabled(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each function with at least two breaks that compiled code calls, the one with most first."""
    found: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[Target]] = {}
    for target in targets:
        statements = list(source.statements_at(target.line)) if target.line else []
        function = source.function_of(statements[-1]) if statements else None
        if function is not None:
            found.setdefault(function, []).append(target)
    for function, inside in sorted(found.items(), key=lambda pair: -len(pair[1])):
        if len(inside) >= 2 and any(target.is_inlined for target in inside) and has_torch(source):
            first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
            at = source.line_start(first)
            indentation, name = source.indentation(function), source.qualified_name(function)
            yield Patch(
                title=f"the function `{name}` is left to Python by `torch.compiler.disable`",
                targets=tuple(inside),
                edits=(Edit(start=at, end=at, text=f"{indentation}@torch.compiler.disable{source.newline}"),),
                changes=f"`{name}` is not compiled, and each of its calls is one break",
            )
