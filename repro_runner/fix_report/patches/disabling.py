"""A function with several breaks that nothing else mends: kept out of the compiled code, it costs one break."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from repro_runner.fix_report.patches.patch import Patch, Target, has_torch
from repro_runner.fix_report.patches.source import Edit, Source


def find_disabled(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """A patch per function that compiled code calls and that holds at least two of these breaks, the fullest first."""
    found: dict[ast.FunctionDef | ast.AsyncFunctionDef, list[Target]] = {}
    for target in targets:
        statements = list(source.statements_at(target.line)) if target.line else []
        function = source.function_of(statements[-1]) if statements else None
        if function is not None:
            found.setdefault(function, []).append(target)
    for function, there in sorted(found.items(), key=lambda pair: -len(pair[1])):
        if len(there) >= 2 and any(target.callers for target in there) and has_torch(source):
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
