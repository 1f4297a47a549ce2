"""Judge a patch: may it be run, and does the changed program have fewer breaks, the same results and the same output?

A patch of a language model, and one that a user hands in, are judged by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.model import REFUSED
from repro_runner.explain.site import Site
from repro_runner.fix_report.examining import OTHER_SEED, Examination, examine
from repro_runner.fix_report.patch_rules import find_dodges, find_refusals
from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, REORDERED, Trial, TrialRunner

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
    """holds, holds for what ran, or refused."""
    reason: str = ""
    """Why it is refused, or what of it never ran or was not compared; empty if it holds."""
    was_run: bool = True
    """Whether it was run. One that is no plain torch code is refused without that."""
    notes: tuple[str, ...] = ()
    """Other effects of the patch, on what the program prints."""
    compared: tuple[str, ...] = ()
    """What the comparison covered."""
    not_compared: tuple[str, ...] = ()
    """What it could not cover, and why."""
    never_reached: tuple[str, ...] = ()
    """Parts of the program that the patch touches and that no run reached."""
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
            reason = f"{Path(path).name}: {why_not}" if len(changes) > 1 else why_not
            return JudgedPatch(verdict=REFUSED, reason=reason, was_run=False)
    texts = {path: after for path, (_, after) in changes.items()}
    tried: list[Trial] = []
    reason = ""
    for seed in (0, OTHER_SEED):
        tell("trying the patch" + (" on other random inputs" if seed else ""))
        tried.append(trials.try_changes(texts, seed=seed))
        if doubt := find_doubt(tried[-1], less_output=less_output):
            reason = f"on other random inputs, {doubt}" if seed else doubt
            break
    found = Examination(refused=reason)
    if not reason:
        tell("trying the patch without the compiler, in double, and with other inputs of the compiled functions")
        calls = all(trial.calls_compared for trial in tried)
        found = examine(trials, changes, calls=calls, less_output=less_output)
    notes = () if found.refused else find_notes(tried)
    return JudgedPatch(
        verdict=found.verdict,
        reason=found.reason,
        notes=notes,
        compared=tuple(found.compared),
        not_compared=tuple(found.not_compared),
        never_reached=tuple(found.never_reached),
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
    """Why the patch is refused; empty if it is not. Deleting a `print` is no fix, unless `less_output` is fine."""
    if not trial.ran:
        return trial.error
    if trial.outputs == DIFFER:
        return f"results differ: {trial.difference}"
    if trial.outputs != EQUAL:
        return f"results could not be compared: {trial.difference}"
    if trial.printed == DIFFER:
        return f"what the program prints differs: {trial.printed_difference}"
    if trial.printed == LINES_REMOVED and not less_output:
        return f"{_PRINTED[LINES_REMOVED]}: {trial.printed_difference}"
    return trial.why_no_fix(trial.breaks_before, trial.ops_before)


def find_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Other effects of a patch: on what the program prints, and on how often it is compiled."""
    printed = (f"{_PRINTED[one.printed]}: {one.printed_difference}" for one in trials if one.printed in _PRINTED)
    compiled = (trial.recompiling for trial in trials if trial.recompiling)
    return tuple(dict.fromkeys((*printed, *compiled)))
