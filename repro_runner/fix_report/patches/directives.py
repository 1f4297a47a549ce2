"""What a program tells the compiler: a `graph_break()` is taken out, a flag is set, a function is left to Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target, has_torch
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


def find_flags(_source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """One patch per setting, for every break that it is known to end, in whatever file that is."""
    wanted: dict[tuple[str, ...], list[Target]] = {}
    for target in targets:
        if target.settings:
            wanted.setdefault(target.settings, []).append(target)
    for settings, there in wanted.items():
        names = ", ".join(f"`{line.partition('=')[0].strip()}`" for line in settings)
        yield Patch(title=f"set {names}", targets=tuple(there), settings=settings)


def find_disabled(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """A patch per function that compiled code calls and that holds at least two of these breaks, the fullest first."""
    found: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[Target]] = {}
    for target in targets:
        statements = list(source.statements_at(target.line)) if target.line else []
        function = source.function_of(statements[-1]) if statements else None
        if function is not None:
            found.setdefault(function, []).append(target)
    for function, there in sorted(found.items(), key=lambda pair: -len(pair[1])):
        if len(there) >= 2 and any(target.is_inlined for target in there) and has_torch(source):
            first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
            at = source.line_start(first)
            indentation, name = source.indentation(function), source.qualified_name(function)
            yield Patch(
                title=f"the function `{name}` is left to Python by `torch.compiler.disable`",
                targets=tuple(there),
                edits=(Edit(start=at, end=at, text=f"{indentation}@torch.compiler.disable{source.newline}"),),
                changes=f"`{name}` is not compiled, and each of its calls is one break",
                excludes=True,
            )
