"""The user's program with mechanical fixes, run: what came of it, and its text under a comment. No torch here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repro_runner.fix_report.patches.source import Source
from repro_runner.output.markdown import one_line
from repro_runner.output.units import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedPatch:
    """One of the mechanical fixes in the fixed program."""

    title: str
    places: tuple[str, ...]
    """`train.py:12`, of the breaks that it is meant for."""
    changes: str = ""
    """What is no longer as it was, besides the breaks; empty if nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedProgram:
    """The user's program with patches, run."""

    name: str
    text: str
    encoding: str
    """Of the original file, and so of this one."""
    breaks_before: int
    breaks_after: int
    outputs: str
    """`equal`, and how that was compared."""
    patches: tuple[AppliedPatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfixed:
    """A break that stays."""

    where: str
    gb_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixing:
    """What came of trying to fix the program."""

    fixed: FixedProgram | None = None
    why_none: str = ""
    """Why there is no fixed program."""
    unfixed: tuple[Unfixed, ...] = ()
    runs: int = 0
    """How often the program was run for this."""


def render_fixed(source: Source, patched: str, program: FixedProgram, name: str, unfixed: Sequence[Unfixed]) -> str:
    """`source` is the original; a line for the shell and one that names the encoding stay first."""
    at = source.after_first_lines()
    comment = "".join(f"{line}{source.newline}" for line in _comment(program, name, unfixed))
    return patched[:at] + comment + patched[at:]


def _comment(program: FixedProgram, name: str, unfixed: Sequence[Unfixed]) -> Iterator[str]:
    yield from _lines(f"{name} with mechanical fixes of its graph breaks. Put it beside the original to run it.")
    yield from _lines(f"Run: {counted(program.breaks_before, 'break')} before, {program.breaks_after} after.")
    yield from _lines(f"Outputs: {program.outputs}.")
    for patch in program.patches:
        changes = f" What changes: {patch.changes}." if patch.changes else ""
        yield from _lines(f"- {patch.title} (for {', '.join(map(_short, patch.places))}).{changes}")
    if unfixed:
        yield from _lines("Not fixed:")
    for one in unfixed:
        yield from _lines(f"- {_short(one.where)}, {one.gb_id}: {one.reason}")


def _short(where: str) -> str:
    """Without the folder: the report has it."""
    return re.split(r"[/\\]", where)[-1]


def _lines(text: str) -> list[str]:
    """Plain ASCII: the file may have any encoding."""
    plain = one_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return textwrap.wrap(plain, 110, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)
