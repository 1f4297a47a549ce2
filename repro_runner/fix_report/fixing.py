"""The original program with mechanical fixes: found, tried by running it, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from registry.advice import Answers
from registry.errors import InvalidInput
from repro_runner.explain.main_module import find_main
from repro_runner.explain.running import ProgramToRun
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.contents import AppliedPatch, FixedProgram, Fixing, Unfixed
from repro_runner.fix_report.findings import Findings
from repro_runner.fix_report.fixed_text import render_fixed
from repro_runner.fix_report.patches.disabling import find_disabled
from repro_runner.fix_report.patches.logging_calls import find_library_log_calls
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target
from repro_runner.fix_report.patches.source import Source, apply_edits, read_source
from repro_runner.fix_report.search import Search, why_not_kept
from repro_runner.fix_report.targets import find_patches, find_targets
from repro_runner.fix_report.trial import EQUAL, NOT_COMPARED, Trial, Trials
from repro_runner.output.units import counted

_OTHER_SEED = 1
"""Other random inputs: a branch that became torch.where has to hold on them, too."""
_CALL = "the original does not break there: a function that is left to Python costs a break where it is called"
_CALLS = ("GB0098", "GB0099")
"""Of `torch.compiler.disable`."""
_HIDDEN = "it shows only now, since an earlier break hid it; hand over the fixed program in its turn"


def fix_program(
    findings: Findings,
    program: ProgramToRun,
    answers: Answers,
    children: Children,
    *,
    seconds: float,
    tell: Callable[[str], None],
) -> Fixing:
    """Find patches, run the program with them, keep those that hold."""
    try:
        file = Path(find_main(script=program.script, module=program.module).file)
        source = read_source(file)
    except (InvalidInput, OSError, SyntaxError, ValueError) as error:
        return Fixing(why_none=f"the program's own file can't be read: {error}")
    targets = find_targets(findings, file, answers)
    if not targets:
        return Fixing(why_none="there is nothing to fix: it has no graph breaks")
    found = list(find_patches(source, targets))
    reasons = {one.target: one.reason for one in found if isinstance(one, Refusal)}
    patches = [one for one in found if isinstance(one, Patch)]
    if any(cause.kind == "fatal" for cause in findings.causes):
        program = replace(program, allow_breaks=True)  # else there is nothing after the first to compare with
    patches = _looked_at(source, program, file, patches, reasons, children, seconds)
    if patches:
        fixes = counted(len(patches), "mechanical fix", "mechanical fixes")
        tell(f"trying {fixes}: the program is run again for each round")
    with Trials(program, timeout=seconds, children=children) as trials:
        search = Search(source=source, file=file, trials=trials)
        search.add(patches)
        search.add(find_library_log_calls(source, search.remaining(targets)))
        search.add(find_disabled(source, search.remaining(targets)))
        search.reasons = {**reasons, **search.reasons}
        if search.kept and any(patch.branch for patch in search.kept):
            _check_other_inputs(search, trials)
    return _outcome(search, program, targets)


def _looked_at(
    source: Source,
    program: ProgramToRun,
    file: Path,
    patches: list[Patch],
    reasons: dict[Target, str],
    children: Children,
    seconds: float,
) -> list[Patch]:
    """Without the branches that a run without the compiler, computing both arms, speaks against."""
    branches = [patch for patch in patches if patch.branch is not None]
    if not branches:
        return patches
    text = apply_edits(source, [patch.branch.probe for patch in branches if patch.branch]).text
    arguments = {"program": asdict(program), "file": os.fspath(file), "text": text}
    done = children.run("tasks:probe_branches", arguments, seconds=seconds)
    seen = done.result.get("branches", {})
    failed = f"the program, run without the compiler, {done.failure}" if done.failure else "it was not reached"
    unfit: list[Patch] = []
    for number, patch in enumerate(branches, 1):
        if reason := _why_unfit(patch, seen.get(str(number)), failed):
            unfit.append(patch)
            reasons |= dict.fromkeys(patch.targets, f"the branch can't become `torch.where`: {reason}")
    return [patch for patch in patches if patch not in unfit]


def _why_unfit(patch: Patch, seen: dict[str, object] | None, failed: str) -> str:
    assert patch.branch is not None
    if not seen:
        return failed
    if seen["problem"]:
        return str(seen["problem"])
    if seen["gradients"] and patch.branch.partial:
        return f"gradients flow through it, and that of `{patch.branch.partial}` is not finite everywhere"
    return ""


def _check_other_inputs(search: Search, trials: Trials) -> None:
    """Once more with another seed; without the branches if that shows a difference."""
    trial = trials.try_source(search.edited.text, seed=_OTHER_SEED)
    search.runs += 2
    if not (why_not := why_not_kept(trial, search.kept)):
        return
    branches = [patch for patch in search.kept if patch.branch]
    for patch in branches:
        search.reasons |= dict.fromkeys(patch.targets, f"tried: {patch.title}; with another seed {why_not}")
    rest = [patch for patch in search.kept if not patch.branch]
    search.kept, search.best = [], None
    search.add(rest)


def _outcome(search: Search, program: ProgramToRun, targets: list[Target]) -> Fixing:
    best = search.best
    if best is None or not search.kept:
        stays = tuple(_unfixed(target, search) for target in targets)
        return Fixing(why_none="no mechanical fix lowers the number of breaks", unfixed=stays, runs=search.runs + 1)
    unfixed = [_unfixed(target, search) for target in search.remaining(targets)]
    unfixed += [
        Unfixed(
            where=f"{site.source} in {site.function}",
            gb_id=site.gb_ids[0],
            reason=_CALL if site.gb_ids[0] in _CALLS else _HIDDEN,
        )
        for site in search.new_sites(targets)
    ]
    stem = search.file.stem if program.script else program.module.rpartition(".")[2]
    fixed = FixedProgram(
        name=f"{stem}_fixed.py",
        text="",
        encoding=search.source.encoding,
        breaks_before=best.breaks_before,
        breaks_after=best.breaks_after,
        outputs=_outputs(best, ", run with fullgraph off" if program.allow_breaks else ""),
        patches=tuple(
            AppliedPatch(
                title=patch.title, places=tuple(target.shown for target in patch.targets), changes=patch.changes
            )
            for patch in search.kept
        ),
    )
    text = render_fixed(search.source, search.edited.text, fixed, search.file.name, unfixed)
    return Fixing(fixed=replace(fixed, text=text), unfixed=tuple(unfixed), runs=search.runs + 1)


def _outputs(trial: Trial, how: str) -> str:
    """`equal`, over how much, and what is known of what the program prints."""
    printed = {
        EQUAL: "it prints the same",
        NOT_COMPARED: f"what it prints could not be compared: {trial.stdout_difference}",
    }.get(trial.stdout, f"what it prints is {trial.stdout}: {trial.stdout_difference}")
    calls = f"of {counted(trial.compiled_calls, 'call')} of compiled code{how}"
    return f"{trial.outputs} ({calls}; {trial.strictness}); {printed}"


def _unfixed(target: Target, search: Search) -> Unfixed:
    reason = search.reasons.get(target)
    if reason is None and not target.line:
        reason = "it is not in the program's own file, which is the only one that is patched"
    return Unfixed(where=target.shown, gb_id=target.gb_id, reason=reason or "no mechanical fix is known for it")
