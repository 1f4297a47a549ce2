"""Mechanical fixes: edits of a program's text that end breaks. The tables below have all of them.

A new one is a module here with a function `find_…(source, targets)`, an entry in one of the tables, and a test in
tests/repro_runner/fix_report/test_patches.py. It yields a Patch per edit to try, or a Refusal that says why a break has
to stay. Every patch is tried by running the program; one that changes a result is never kept. No torch here.
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
"""What may be tried for these breaks in this program."""

FIRST: tuple[Finder, ...] = (
    find_explicit_breaks,
    find_prints,
    find_warnings,
    find_log_calls,
    find_branches,
    find_flags,
)
"""Tried together, for all breaks; what costs the program least comes first."""

FOR_THE_REST: tuple[Finder, ...] = (
    find_library_log_calls,
    find_disabled,
)
"""Tried one after the other, each for the breaks that are left."""


def find_patches(source: Source, targets: Sequence[Target]) -> Iterator[Patch | Refusal]:
    """What the finders in FIRST propose."""
    for find in FIRST:
        yield from find(source, targets)
