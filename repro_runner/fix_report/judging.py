"""Judge a patch: may it be run, and does the changed program have fewer breaks, the same results and the same output?

A patch of a language model, and one that a user hands in, are judged by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro_runner.explain.site import NOT_VERIFIED, VERIFIED, Site
from repro_runner.fix_report.patch_rules import find_dodges, find_refusals
from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, REORDERED, Trial, TrialRunner
from repro_runner.output.units import counted

NOT_RUN = "not run"
SEEDS = (0, 1)
"""A patch must give the same results on other random inputs, too. A patch with fixed results does not."""

_PRINTED = {
    REORDERED: "what the program prints comes in another order",
    LINES_REMOVED: "the program prints less",
    NOT_COMPARED: "what the program prints was not compared",
}

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPatch:
    """What became of a patch."""

    verdict: str
    """verified, not verified or not run."""
    reason: str = ""
    """Why it is not verified; empty if it is."""
    notes: tuple[str, ...] = ()
    """Other effects of the patch, on what the program prints."""
    breaks_before: int | None = None
    breaks_after: int | None = None
    """Break sites of the whole program; None if the patch was not run."""
    outputs: str = ""
    """equal, differ or not compared; empty if the patch was not run."""
    sites_after: tuple[Site, ...] = ()
    """The breaks that are left."""


def judge_patch(
    trials: TrialRunner, changes: Mapping[str, tuple[str, str]], *, less_output: bool = False, tell: Tell
) -> JudgedPatch:
    """Judge a patch of these files: path -> (text before, text after). `tell` gets a line before each run.

    With `less_output`, a program that prints less is no objection, but a note.
    """
    for path, (before, after) in changes.items():
        if why_not := find_objection(before, after):
            return JudgedPatch(verdict=NOT_RUN, reason=f"{Path(path).name}: {why_not}" if len(changes) > 1 else why_not)
    tried: list[Trial] = []
    reason = ""
    for seed in SEEDS:
        tell("trying the patch" + (" on other random inputs" if seed else ""))
        tried.append(trials.try_changes({path: after for path, (_, after) in changes.items()}, seed=seed))
        if doubt := find_doubt(tried[-1], less_output=less_output):
            reason = f"on other random inputs, {doubt}" if seed else doubt
            break
    return JudgedPatch(
        verdict=NOT_VERIFIED if reason else VERIFIED,
        reason=reason,
        notes=() if reason else find_notes(tried),
        breaks_before=tried[0].breaks_before,
        breaks_after=tried[0].breaks_after,
        outputs=tried[-1].outputs,
        sites_after=tried[0].sites_after,
    )


def find_objection(before: str, after: str) -> str:
    """Why the patched text must not be run, or how it only hides breaks; empty if it may be run."""
    try:
        if refusals := find_refusals(before, after):
            return f"it goes beyond plain torch code: {'; '.join(refusals)}"
        return "; ".join(find_dodges(before, after))
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"the patched code does not parse: {error.args[0] if error.args else error}"


def find_doubt(trial: Trial, *, less_output: bool = False) -> str:
    """Why the patch is not verified; empty if it is. Deleting a `print` is no fix, unless `less_output` is fine."""
    if not trial.ran:
        return trial.error
    if trial.outputs == DIFFER:
        return f"results differ: {trial.difference}"
    if trial.outputs != EQUAL:
        return f"results could not be compared: {trial.difference}"
    if trial.stdout == DIFFER:
        return f"what the program prints differs: {trial.stdout_difference}"
    if trial.stdout == LINES_REMOVED and not less_output:
        return f"{_PRINTED[LINES_REMOVED]}: {trial.stdout_difference}"
    if trial.stderr_lines_lost and not less_output:
        return f"the program writes {counted(trial.stderr_lines_lost, 'line')} less to standard error"
    return trial.why_no_fix(trial.breaks_before, trial.ops_before)


def find_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Other effects of a patch, on what the program prints."""
    notes = (
        f"{_PRINTED[trial.stdout]}: {trial.stdout_difference}" if trial.stdout_difference else _PRINTED[trial.stdout]
        for trial in trials
        if trial.stdout in _PRINTED
    )
    return tuple(dict.fromkeys(notes))
