"""The fixed copy of a user's program: the result of running it, and its text with a comment. Works without torch."""

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
    """One mechanical fix in the fixed program."""

    title: str
    places: tuple[str, ...]
    """The places of the breaks that it fixes: `train.py:12`."""
    changes: str = ""
    """What else it changes, besides the breaks; empty if nothing."""
    diff: str = ""
    """What it changes, as a unified diff of the program's file, or of another."""
    in_library: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedProgram:
    """The user's program with patches, and the result of running it."""

    name: str
    text: str
    encoding: str
    """The encoding of the original file, which this one also has."""
    breaks_before: int
    breaks_after: int
    outputs: str
    """The result of comparing outputs, `equal`, and how they were compared."""
    verdict: str = ""
    """holds, or holds for what ran."""
    reason: str = ""
    """What never ran or was not compared; empty if it holds."""
    patches: tuple[AppliedPatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfixed:
    """A break that was not fixed."""

    where: str
    gb_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixing:
    """The result of trying to fix a program."""

    fixed: FixedProgram | None = None
    why_none: str = ""
    """Why there is no fixed program."""
    unfixed: tuple[Unfixed, ...] = ()
    runs: int = 0
    """How often the program was run for this."""


def render_fixed(source: Source, patched: str, program: FixedProgram, name: str, unfixed: Sequence[Unfixed]) -> str:
    """The patched text with a comment. `source` is the original. Its `#!` and encoding lines stay first."""
    at = source.after_first_lines()
    comment = "".join(f"{line}{source.newline}" for line in _comment(program, name, unfixed))
    return patched[:at] + comment + patched[at:]


def _comment(program: FixedProgram, name: str, unfixed: Sequence[Unfixed]) -> Iterator[str]:
    yield from _comment_lines(
        f"{name} with mechanical fixes of its graph breaks. Put it beside the original to run it."
    )
    yield from _comment_lines(f"Run: {counted(program.breaks_before, 'break')} before, {program.breaks_after} after.")
    yield from _comment_lines(f"Outputs: {program.outputs}.")
    if program.reason:
        yield from _comment_lines(f"It {program.verdict}; {program.reason}.")
    for patch in program.patches:
        changes = f" What changes: {patch.changes}." if patch.changes else ""
        yield from _comment_lines(f"- {patch.title} (for {', '.join(map(_without_folder, patch.places))}).{changes}")
    if unfixed:
        yield from _comment_lines("Not fixed:")
    for one in unfixed:
        yield from _comment_lines(f"- {_without_folder(one.where)}, {one.gb_id}: {one.reason}")


def _without_folder(where: str) -> str:
    """The place without its folder, which is in the report."""
    return re.split(r"[/\\]", where)[-1]


def _comment_lines(text: str) -> list[str]:
    """The text as comment lines in plain ASCII, because the file may have any encoding."""
    plain = one_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return textwrap.wrap(plain, 110, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)
