"""Does a patch that was run deserve to be called verified?"""

from __future__ import annotations

from collections.abc import Sequence

from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, REORDERED, Trial

_PRINTED = {
    REORDERED: "what the program prints comes in another order",
    LINES_REMOVED: "the program prints less",
    NOT_COMPARED: "what the program prints was not compared",
}


def find_doubt(trial: Trial) -> str:
    """Why the patch is not verified; empty if it is."""
    if not trial.ran:
        return trial.error
    if trial.outputs == DIFFER:
        return f"results differ: {trial.difference}"
    if trial.outputs != EQUAL:
        return f"results could not be compared: {trial.difference}"
    if trial.stdout == DIFFER:
        return f"what the program prints differs: {trial.stdout_difference}"
    if trial.breaks_after >= trial.breaks_before:
        return f"as many breaks as before: {trial.breaks_after} (before: {trial.breaks_before})"
    # Breaks and recompiles leave the number of ops that run in graphs as it is; a rewrite may need fewer of them.
    if not trial.graphs_after or trial.ops_after * 2 < trial.ops_before:
        return f"it takes work out of the compiled code: {trial.ops_after} ops ran in graphs, before {trial.ops_before}"
    return ""


def find_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """What else a patch does that its reader should know."""
    notes = (
        f"{_PRINTED[trial.stdout]}: {trial.stdout_difference}" if trial.stdout_difference else _PRINTED[trial.stdout]
        for trial in trials
        if trial.stdout in _PRINTED
    )
    return tuple(dict.fromkeys(notes))
