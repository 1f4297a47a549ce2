"""What a handover consists of, besides what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repro_runner.fix_report.findings import Location

YOURS = "your code"
LIBRARYS = "a library's code"
REGISTRY = "the registry's program, not yours"
TORCH_XLA = "the registry's program for torch_xla, not yours"

CONFIRMED = "confirmed"
NOT_CONFIRMED = "not confirmed"
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedRepro:
    """A script that shows a break by itself."""

    name: str
    """In the folder."""
    text: str
    origin: str
    """Whose code it is: YOURS or LIBRARYS, with the function's name; REGISTRY or TORCH_XLA."""
    verdict: str
    """CONFIRMED, NOT_CONFIRMED or NOT_RUN."""
    said: str
    """What the run showed, or why there was none."""
    location: Location | None = None
    """Where the user's code has it."""


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


Repros = Mapping[int, tuple[HandedRepro, ...]]
"""By the number of the cause, from 0."""
