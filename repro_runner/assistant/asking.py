"""Ask a model about the most expensive breaks of a program, and try the patches that it proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Advisor
from repro_runner.assistant.client import COSTLIEST, NoReply, Settings, request_reply
from repro_runner.assistant.patch_rules import find_dodges, find_refusals
from repro_runner.assistant.prompt import Excerpt, read_excerpt, render_excerpt, render_prompt
from repro_runner.assistant.reply import ModelReply, NotUnderstood, apply_blocks, parse_reply
from repro_runner.explain.report import Report
from repro_runner.explain.site import NO_ANSWER, NOT_VERIFIED, VERIFIED, Site, Suggestion
from repro_runner.fix_report.patches.source import diff_texts
from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, REORDERED, Trial, TrialRunner

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun

SEEDS = (0, 1)
"""A patch must give the same results on other random inputs, too. A patch with fixed results does not."""

Tell = Callable[[str], None]


def render_prompts(report: Report, *, answers: Advisor, sites: int = COSTLIEST) -> tuple[str, ...]:
    """The exact texts that ask() would send: one prompt for each of the most expensive sites."""
    torch = report.environment.get("torch", "")
    return tuple(render_prompt(site, answers=answers, torch=torch) for site in report.sites[:sites])


def ask(
    report: Report, program: ProgramToRun, settings: Settings, *, answers: Advisor, tell: Tell = lambda _: None
) -> tuple[Suggestion, ...]:
    """A suggestion for each of the most expensive sites. Errors of the server become suggestions without an answer.

    `tell` is called with lines about the progress.
    """
    with TrialRunner(program, timeout=settings.trial_seconds) as trials:
        return tuple(_Asking(report, settings, answers, tell, trials).suggestions())


@dataclass(slots=True)
class _Asking:
    report: Report
    settings: Settings
    answers: Advisor
    tell: Tell
    trials: TrialRunner

    def suggestions(self) -> Iterator[Suggestion]:
        for site in self.report.sites[: self.settings.sites]:
            self.tell(f"asking {self.settings.model} about {site.where}")
            yield self._ask_about(site)

    def _ask_about(self, site: Site) -> Suggestion:
        excerpt = read_excerpt(site)
        torch = self.report.environment.get("torch", "")
        suggestion = Suggestion(
            file=site.file, line=site.line, gb_ids=site.gb_ids, model=self.settings.model, verdict=NO_ANSWER
        )
        try:
            text = request_reply(render_excerpt(site, excerpt, answers=self.answers, torch=torch), self.settings)
            reply = parse_reply(text)
        except (NoReply, NotUnderstood) as why:
            return replace(suggestion, reason=str(why))
        return self._check_patch(replace(suggestion, verdict=NOT_VERIFIED, cause=reply.cause), reply, excerpt)

    def _check_patch(self, suggestion: Suggestion, reply: ModelReply, excerpt: Excerpt | None) -> Suggestion:
        if not reply.blocks or excerpt is None:
            return replace(suggestion, reason="the model gives no patch")
        try:
            changed = apply_blocks(excerpt.whole, reply.blocks)
        except NotUnderstood as why:
            return replace(suggestion, reason=str(why))
        suggestion = replace(suggestion, patch=render_patch(excerpt, changed))
        if why_not := find_objection(excerpt.whole, changed):
            return replace(suggestion, reason=why_not)
        return self._run_patch(suggestion, {excerpt.file: changed})

    def _run_patch(self, suggestion: Suggestion, changes: dict[str, str]) -> Suggestion:
        tried: list[Trial] = []
        for seed in SEEDS:
            self.tell(f"trying the patch for {suggestion.where}" + (", on other random inputs" if seed else ""))
            trial = self.trials.try_changes(changes, seed=seed)
            tried.append(trial)
            if doubt := find_doubt(trial):
                suggestion = replace(suggestion, reason=f"on other random inputs, {doubt}" if seed else doubt)
                break
        else:
            suggestion = replace(suggestion, verdict=VERIFIED, notes=find_notes(tried))
        return replace(
            suggestion,
            breaks_before=tried[0].breaks_before,
            breaks_after=tried[0].breaks_after,
            outputs=tried[-1].outputs,
        )


def find_objection(before: str, after: str) -> str:
    """Why the patched text must not be run, or how it only hides breaks; empty if it may be run."""
    try:
        if refusals := find_refusals(before, after):
            return f"not run, as it goes beyond plain torch code: {'; '.join(refusals)}"
        dodges = find_dodges(before, after)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"the patched code does not parse: {error.args[0] if error.args else error}"
    return f"not run: {'; '.join(dodges)}" if dodges else ""


def render_patch(excerpt: Excerpt, changed: str) -> str:
    """The change as a unified diff for the `patch` command."""
    return diff_texts(excerpt.whole, changed, Path(excerpt.file).name)


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
    return trial.why_no_fix(trial.breaks_before, trial.ops_before)


def find_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Other effects of a patch, on what the program prints."""
    notes = (
        f"{_PRINTED[trial.stdout]}: {trial.stdout_difference}" if trial.stdout_difference else _PRINTED[trial.stdout]
        for trial in trials
        if trial.stdout in _PRINTED
    )
    return tuple(dict.fromkeys(notes))
