"""Mechanical fixes: edits of a program's text that remove breaks. The tables below list all of them.

To add one, write a function `find_…(source, targets)` in a module here, an entry in one of the tables, and a test in
tests/repro_runner/fix_report/test_patches.py. The function yields a Patch for each edit to try, or a Refusal that says
why a break can't be fixed. Every patch is tried by running the program. A patch that changes a result is never kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from repro_runner.fix_report.patches.branches import find_branches
from repro_runner.fix_report.patches.directives import find_disabled, find_explicit_breaks, find_flags
from repro_runner.fix_report.patches.logging_calls import (
    find_library_log_calls,
    find_log_calls,
    find_prints,
    find_warnings,
)
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target
from repro_runner.fix_report.patches.source import Source

Finder = Callable[[Source, Sequence[Target]], Iterator[Patch | Refusal]]
"""A function that yields the patches to try for these breaks in this program."""

FIRST: tuple[Finder, ...] = (
    find_explicit_breaks,
    find_prints,
    find_warnings,
    find_log_calls,
    find_branches,
    find_flags,
)
"""These are tried together, for all breaks. The fixes that change the program least come first."""

FOR_THE_REST: tuple[Finder, ...] = (
    find_library_log_calls,
    find_disabled,
)
"""These are tried one after the other, each for the breaks that remain."""


def find_patches(source: Source, targets: Sequence[Target]) -> Iterator[Patch | Refusal]:
    """Yield the patches and refusals of all finders in FIRST."""
    for find in FIRST:
        yield from find(source, targets)
