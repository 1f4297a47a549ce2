"""The breaks of a program as targets of patches, and what the patches are tried on. No torch here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from registry.advice import Answers
from repro_runner.fix_report.findings import Findings
from repro_runner.fix_report.patches.branches import find_branches
from repro_runner.fix_report.patches.explicit import find_explicit_breaks
from repro_runner.fix_report.patches.flags import find_flags
from repro_runner.fix_report.patches.logging_calls import find_log_calls, find_prints, find_warnings
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target
from repro_runner.fix_report.patches.source import Source


def find_targets(findings: Findings, file: Path, answers: Answers) -> list[Target]:
    """Every place of every cause; `file` is the program's own."""
    own = os.path.realpath(file)
    release = findings.environment.get("torch", "")
    return [
        Target(
            gb_id=cause.gb_id,
            where=place.where,
            shown=place.shown,
            line=place.line if os.path.realpath(place.file) == own else 0,
            message=place.message or cause.message,
            settings=_settings(cause.gb_id, answers, release),
            callers=len(place.stack) - 1,
        )
        for cause in findings.causes
        for place in cause.locations
    ]


def _settings(gb_id: str, answers: Answers, release: str) -> tuple[str, ...]:
    answer = answers.answer(gb_id, torch=release)
    flags = [fix.settings for fix in answer.fixes if fix.kind == "flag" and fix.settings] if answer else []
    return tuple(flags[0].splitlines()) if flags else ()


def find_patches(source: Source, targets: list[Target]) -> Iterator[Patch | Refusal]:
    """Everything that may be tried; what costs the program least comes first."""
    yield from find_explicit_breaks(source, targets)
    yield from find_prints(source, targets)
    yield from find_warnings(source, targets)
    yield from find_log_calls(source, targets)
    yield from find_branches(source, [target for target in targets if target.gb_id == "GB0170"])
    yield from find_flags(targets)
