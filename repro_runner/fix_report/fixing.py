"""Find mechanical fixes for a program, try them by running it, and make the fixed program."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from registry.advice import Advisor
from registry.errors import InvalidInput
from repro_runner.explain.program import ProgramToRun, find_main
from repro_runner.explain.render.formats import read_answers
from repro_runner.explain.report import Report
from repro_runner.explain.site import OwnFix, Site
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.examining import OTHER_SEED, Examination, examine
from repro_runner.fix_report.findings import Findings, findings_of_program, shown_site
from repro_runner.fix_report.fixed_program import AppliedPatch, FixedProgram, Fixing, Unfixed, render_fixed
from repro_runner.fix_report.patches import FOR_THE_REST, find_library_patches, find_patches
from repro_runner.fix_report.patches.patch import Branch, Patch, Refusal, Target, apply_patches
from repro_runner.fix_report.patches.source import Source, diff_texts, read_source
from repro_runner.fix_report.search import Search, why_not_kept
from repro_runner.fix_report.trial import EQUAL, NOT_COMPARED, Trial, TrialRunner
from repro_runner.output.units import counted

_SECONDS = 300.0
"""How long one run of the program may take."""
_CALL = "the original does not break there: a function that is left to Python costs a break where it is called"
_CALLS = ("GB0098", "GB0099")
"""The ids of breaks that `torch.compiler.disable` causes."""
_HIDDEN = "it shows only now, since an earlier break hid it; hand over the fixed program in its turn"


def fix_program(
    findings: Findings,
    program: ProgramToRun,
    answers: Advisor,
    children: Children,
    *,
    seconds: float,
    tell: Callable[[str], None],
) -> Fixing:
    """Find patches, run the program with them, and keep those that remove breaks and change no result.

    `tell` is called with a line about what is being done. Each run may take `seconds`.
    """
    try:
        file = Path(find_main(script=program.script, module=program.module).file)
        source = read_source(file)
    except (InvalidInput, OSError, SyntaxError, ValueError) as error:
        return Fixing(why_none=f"the program's own file can't be read: {error}")
    targets = find_targets(findings, file, answers)
    if not targets:
        return Fixing(why_none="there is nothing to fix: it has no graph breaks")
    if any(cause.kind == "fatal" for cause in findings.causes):
        program = replace(program, allow_breaks=True)  # else the program ends at the first break
    proposed = list(find_patches(source, targets))
    proposed = list(_without_unfit_branches(source, program, file, proposed, children, seconds))
    if number := sum(isinstance(one, Patch) for one in proposed):
        fixes = counted(number, "mechanical fix", "mechanical fixes")
        tell(f"trying {fixes}: the program is run again for each round")
    with TrialRunner(program, timeout=seconds, children=children) as trials:
        search = Search(source=source, file=file, trials=trials)
        search.add(proposed)
        for find in FOR_THE_REST:
            search.add(find(source, search.remaining(targets)))
        of_libraries = list(find_library_patches(search.remaining(targets)))
        if number := sum(isinstance(one, Patch) for one in of_libraries):
            tell(f"trying {counted(number, 'patch', 'patches')} of functions in other files")
        search.add(_without_unfit_branches(source, program, file, of_libraries, children, seconds))
        found = _examine(search, trials)
    for patch in search.kept:
        if patch.function is not None:
            tell(f"the fixed program {patch.title.replace('`', '')}")
    return _outcome(search, program, targets, found)


def find_fixes(report: Report, program: ProgramToRun, children: Children, *, tell: Callable[[str], None]) -> Fixing:
    """Fix a program that was run, and add to each of its sites the fix of the user's own code, or why there is none."""
    findings = findings_of_program(report, program)
    fixing = fix_program(findings, program, read_answers(), children, seconds=_SECONDS, tell=tell)
    report.sites = tuple(replace(one, own_fix=_own_fix(one, fixing)) for one in report.sites)
    return fixing


def _own_fix(site: Site, fixing: Fixing) -> OwnFix:
    where, fixed = shown_site(site), fixing.fixed
    stays = next((one.reason for one in fixing.unfixed if (one.where, one.gb_id) == (where, site.gb_id)), "")
    patches = [one for one in fixed.patches if where in one.places] if fixed and not stays else []
    if fixed is None or not patches:
        return OwnFix(why_none=stays or fixing.why_none)
    return OwnFix(
        title="; ".join(one.title for one in patches),
        changes="; ".join(one.changes for one in patches if one.changes),
        diff="".join(one.diff for one in patches),
        breaks_before=fixed.breaks_before,
        breaks_after=fixed.breaks_after,
        outputs=fixed.outputs,
        verdict=fixed.verdict,
        reason=fixed.reason,
    )


def find_targets(findings: Findings, file: Path, answers: Advisor) -> list[Target]:
    """A target for every site of every cause. `file` is the program's own file."""
    own = os.path.realpath(file)
    release = findings.environment.get("torch", "")
    return [
        Target(
            site=site,
            line=site.line if os.path.realpath(site.file) == own else 0,
            settings=_settings(cause.gb_id, answers, release),
        )
        for cause in findings.causes
        for site in cause.sites
    ]


def _settings(gb_id: str, answers: Advisor, release: str) -> tuple[str, ...]:
    answer = answers.advise(gb_id, torch=release)
    flags = [fix.settings for fix in answer.fixes if fix.kind == "flag" and fix.settings] if answer else []
    flags = [flag for flag in flags if _LOSES_OUTPUT not in flag]
    return tuple(flags[0].splitlines()) if flags else ()


_LOSES_OUTPUT = "reorderable_logging_functions"
"""What it delays may not be printed at all, and a trial compares results, not what is printed."""


def _without_unfit_branches(
    source: Source,
    program: ProgramToRun,
    file: Path,
    proposed: list[Patch | Refusal],
    children: Children,
    seconds: float,
) -> Iterator[Patch | Refusal]:
    """Yield what was proposed, with a refusal instead of each branch that must not become `torch.where`. To find out,
    the program is run without the compiler, and both arms of each branch are computed."""
    branches = [(one, one.branch) for one in proposed if isinstance(one, Patch) and one.branch]
    probes = [replace(one, edits=(branch.probe(number),)) for number, (one, branch) in enumerate(branches, 1)]
    seen: dict[str, dict[str, object]] = {}
    failed = "it was not reached"
    if probes:
        arguments = {"program": asdict(program), "file": os.fspath(file), "text": apply_patches(source, probes).text}
        done = children.run("tasks:probe_branches", arguments, seconds=seconds)
        seen = done.result.get("branches", {})
        failed = f"the program, run without the compiler, {done.failure}" if done.failure else failed
    numbers = itertools.count(1)
    for one in proposed:
        why = ""
        if isinstance(one, Patch) and one.branch:
            why = _why_unfit(one.branch, seen.get(str(next(numbers))), failed)
        if isinstance(one, Refusal) or not why:
            yield one
            continue
        for target in one.targets:
            yield Refusal(target=target, reason=f"the branch can't become `torch.where`: {why}")


def _why_unfit(branch: Branch, seen: dict[str, object] | None, failed: str) -> str:
    if not seen:
        return failed
    if seen["problem"]:
        return str(seen["problem"])
    if seen["gradients"] and branch.partial:
        return f"gradients flow through it, and that of `{branch.partial}` is not finite everywhere"
    return ""


def _examine(search: Search, trials: TrialRunner) -> Examination:
    """Examine the program with all patches. If it is refused, drop those of branches, then one after the other."""
    while search.kept:
        found = _examination(search, trials)
        if not found.refused:
            return found
        dropped = [patch for patch in search.kept if patch.branch] or search.kept[-1:]
        for patch in dropped:
            search.reasons |= dict.fromkeys(patch.targets, f"tried: {patch.title}; {found.refused}")
        rest = [patch for patch in search.kept if patch not in dropped]
        search.kept, search.best = [], None
        search.add(rest)
    return Examination()


def _examination(search: Search, trials: TrialRunner) -> Examination:
    search.runs += 1
    text = search.edited.text
    trial = trials.try_source(text, seed=OTHER_SEED)
    if why_not := why_not_kept(trial, search.kept):
        return Examination(refused=f"on other random inputs {why_not}")
    silences = any(patch.silences for patch in search.kept)
    return examine(trials, {os.fspath(search.file): (search.source.text, text)}, calls=True, less_output=silences)


def _outcome(search: Search, program: ProgramToRun, targets: list[Target], found: Examination) -> Fixing:
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
        verdict=found.verdict,
        reason=found.reason,
        patches=tuple(
            AppliedPatch(
                title=patch.title,
                places=tuple(shown_site(target.site) for target in patch.targets),
                changes=patch.changes,
                diff=patch.function.diff(patch.edits) if patch.function else _diff(search.source, patch, search.file),
                in_library=bool(patch.function and patch.function.library),
            )
            for patch in search.kept
        ),
    )
    text = render_fixed(search.source, search.edited.text, fixed, search.file.name, unfixed)
    return Fixing(fixed=replace(fixed, text=text), unfixed=tuple(unfixed), runs=search.runs + 1)


def _diff(source: Source, patch: Patch, file: Path) -> str:
    return diff_texts(source.text, apply_patches(source, [patch]).text, file.name)


def _outputs(trial: Trial, how: str) -> str:
    """Describe the comparison: `equal`, how many calls, how strict, and whether the program prints the same."""
    printed = {
        EQUAL: "it prints the same",
        NOT_COMPARED: f"what it prints could not be compared: {trial.printed_difference}",
    }.get(trial.printed, f"what it prints is {trial.printed}: {trial.printed_difference}")
    calls = f"of {counted(trial.compiled_calls, 'call')} of compiled code{how}"
    parts = [f"{trial.outputs} ({calls}; {trial.strictness})", printed, trial.recompiling]
    return "; ".join(part for part in parts if part)


def _unfixed(target: Target, search: Search) -> Unfixed:
    reason = search.reasons.get(target, "no mechanical fix is known for it")
    return Unfixed(where=shown_site(target.site), gb_id=target.site.gb_id, reason=reason)
