"""Patches of calls of a library: an argument with which the library does not reach the line that breaks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from repro_runner.capture.breaks import UserFrame, plain_name
from repro_runner.fix_report.patches.library import read_library_source
from repro_runner.fix_report.patches.patch import Patch, Target
from repro_runner.fix_report.patches.source import Edit, Source
from repro_runner.output.places import in_package

_CALLED_BY_ANOTHER_NAME = ("forward", "__call__", "__init__")


def find_arguments(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each switch of a called function: a parameter that is True or False by default, and that an
    `if` around the line asks. The call in the program's own file gets the other value."""
    for target in targets:
        for caller, called in pairwise(target.site.stack):
            is_own = source.line_text(caller.line).strip() == caller.source.strip()  # and not another file of the user
            if target.line or not is_own or in_package(Path(caller.file)) or not in_package(Path(called.file)):
                continue
            for name, value in _switches(called):
                for edit in _with_argument(source, caller, called, f"{name}={value}"):
                    yield Patch(
                        title=f"`{plain_name(called.function)}` is called with `{name}={value}`",
                        targets=(target,),
                        edits=(edit,),
                        changes=f"what `{plain_name(called.function)}` does only with `{name}={not value}` is not done",
                    )


def _switches(called: UserFrame) -> Iterator[tuple[str, bool]]:
    """Yield (name, the value that is not its default) of each switch around the frame's line."""
    try:
        source = read_library_source(called.file)
    except (OSError, SyntaxError, ValueError):
        return
    statements = list(source.statements_at(called.line))
    function = source.function_of(statements[-1]) if statements else None
    if function is None or function.name != plain_name(called.function):
        return
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    given = zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
    tests = [each.test for each in statements if isinstance(each, ast.If) and each.lineno > function.lineno]
    asked = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    for arg, default in (*given, *zip(args.kwonlyargs, args.kw_defaults, strict=True)):
        if arg.arg in asked and isinstance(default, ast.Constant) and isinstance(default.value, bool):
            yield arg.arg, not default.value


def _with_argument(source: Source, caller: UserFrame, called: UserFrame, argument: str) -> Iterator[Edit]:
    """Yield the edit that adds an argument to the call on the caller's line; nothing if it is not clear which it is."""
    name = plain_name(called.function)
    calls = [
        node
        for statement in list(source.statements_at(caller.line))[-1:]
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and node.lineno <= caller.line <= (node.end_lineno or 0)
    ]
    named = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == name]
    wanted = named or (calls if name in _CALLED_BY_ANOTHER_NAME else [])
    if len(wanted) != 1 or any(each.arg in (None, argument.partition("=")[0]) for each in wanted[0].keywords):
        return
    (call,) = wanted
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    ends = [source.end(each) for each in given]
    at = max(ends, default=source.end(call) - 1)
    yield Edit(start=at, end=at, text=f", {argument}" if ends else argument)
