"""Mechanical fixes: edits of a program's text that remove breaks. The tables below list all of them.

To add one, write a function `find_…(source, targets)` in a module here, an entry in one of the tables, and a test in
tests/repro_runner/fix_report/test_patches.py. The function yields a Patch for each edit to try, or a Refusal that says
why a break can't be fixed. Every patch is tried by running the program. A patch that changes a result is never kept.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repro_runner.fix_report.patches.arguments import find_arguments
from repro_runner.fix_report.patches.branches import find_branches, find_random_thresholds
from repro_runner.fix_report.patches.directives import find_disabled, find_explicit_breaks, find_flags
from repro_runner.fix_report.patches.library import (
    LibraryFunction,
    NotReplaceable,
    library_function,
    read_library_source,
)
from repro_runner.fix_report.patches.logging_calls import (
    find_library_log_calls,
    find_log_calls,
    find_prints,
    find_warnings,
)
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target
from repro_runner.fix_report.patches.source import Source
from repro_runner.output.places import in_library, in_package

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Finder = Callable[[Source, Sequence[Target]], Iterator[Patch | Refusal]]
"""A function that yields the patches to try for these breaks in this program."""

FIRST: tuple[Finder, ...] = (
    find_explicit_breaks,
    find_prints,
    find_warnings,
    find_log_calls,
    find_branches,
    find_random_thresholds,
    find_flags,
)
"""These are tried together, for all breaks. The fixes that change the program least come first."""

FOR_THE_REST: tuple[Finder, ...] = (
    find_library_log_calls,
    find_arguments,
    find_disabled,
)
"""These are tried one after the other, each for the breaks that remain."""

FOR_LIBRARIES: tuple[Finder, ...] = (
    find_explicit_breaks,
    find_prints,
    find_branches,
    find_random_thresholds,
)
"""These are tried last, on functions of other files. They change only lines of the function, and add no name to it."""


def find_patches(source: Source, targets: Sequence[Target]) -> Iterator[Patch | Refusal]:
    """Yield the patches and refusals of all finders in FIRST."""
    for find in FIRST:
        yield from find(source, targets)


def find_library_patches(targets: Iterable[Target]) -> Iterator[Patch | Refusal]:
    """Yield the patches and refusals of all finders in FOR_LIBRARIES, each for one function of another file.

    That is an installed library, or another module of the program's own. Python's own files are left alone."""
    files: dict[str, list[Target]] = {}
    for target in targets:
        path = Path(target.site.file)
        if not target.line and (in_package(path) or not in_library(path)):
            files.setdefault(target.site.file, []).append(target)
    for file, inside in files.items():
        try:
            source = read_library_source(file)
        except (OSError, SyntaxError, ValueError):
            continue
        functions: dict[_Function | None, list[Target]] = {}
        for target in inside:
            functions.setdefault(_innermost(source, target), []).append(target)
        for node, those in functions.items():
            yield from _function_patches(file, source, node, those)


def _innermost(source: Source, target: Target) -> _Function | None:
    statements = list(source.statements_at(target.site.line))
    return source.function_of(statements[-1]) if statements else None


def _function_patches(
    file: str, source: Source, node: _Function | None, targets: Sequence[Target]
) -> Iterator[Patch | Refusal]:
    original = {replace(target, line=target.site.line): target for target in targets}
    function, why_not = None, ""
    try:
        function = library_function(file, source, node)
    except NotReplaceable as error:
        why_not = str(error)
    for find in FOR_LIBRARIES:
        for one in find(source, list(original)):
            if isinstance(one, Refusal):
                yield replace(one, target=original[one.target])
            elif function is None:
                yield from (Refusal(target=original[each], reason=why_not) for each in one.targets)
            else:
                yield _in_function(one, function, original)


def _in_function(patch: Patch, function: LibraryFunction, original: Mapping[Target, Target]) -> Patch:
    release = f" ({function.library})" if function.library else ""
    return replace(
        patch,
        title=f"patches `{function}`{release}: {patch.title}",
        targets=tuple(original[target] for target in patch.targets),
        function=function,
        otherwise=_in_function(patch.otherwise, function, original) if patch.otherwise else None,
    )
