"""Ask a model about the dearest breaks of a program, and try what it proposes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Answers
from repro_runner.assistant.answer import ModelAnswer, NotUnderstood, apply_blocks, parse_answer
from repro_runner.assistant.client import NoAnswer, request_answer
from repro_runner.assistant.patch_rules import find_dodges, find_refusals
from repro_runner.assistant.prompt import render_excerpt, render_prompt
from repro_runner.assistant.settings import DEAREST, Settings
from repro_runner.assistant.source_excerpt import Excerpt, read_excerpt
from repro_runner.assistant.verdict import find_doubt, find_notes
from repro_runner.explain.report import Report
from repro_runner.explain.site import Site
from repro_runner.explain.suggestion import NO_ANSWER, NOT_VERIFIED, VERIFIED, Suggestion
from repro_runner.fix_report.trial import Trial, Trials

if TYPE_CHECKING:
    from repro_runner.explain.running import ProgramToRun

SEEDS = (0, 1)
"""A patch has to hold on other random inputs, too: one that has the results written in it does not."""

Tell = Callable[[str], None]


def render_prompts(report: Report, *, answers: Answers, sites: int = DEAREST) -> tuple[str, ...]:
    """What ask() would send, text for text: one prompt for each of the dearest sites."""
    torch = report.environment.get("torch", "")
    return tuple(render_prompt(site, answers=answers, torch=torch) for site in report.sites[:sites])


def ask(
    report: Report, program: ProgramToRun, settings: Settings, *, answers: Answers, tell: Tell = lambda _: None
) -> tuple[Suggestion, ...]:
    """A suggestion for each of the dearest sites; never raises for what a server does. `tell` gets its progress."""
    with Trials(program, timeout=settings.trial_seconds) as trials:
        return tuple(_Asking(report, settings, answers, tell, trials).suggestions())


@dataclass(slots=True)
class _Asking:
    report: Report
    settings: Settings
    answers: Answers
    tell: Tell
    trials: Trials

    def suggestions(self) -> Iterator[Suggestion]:
        for site in self.report.sites[: self.settings.sites]:
            self.tell(f"asking {self.settings.model} about {site.where}")
            yield self._suggestion(site)

    def _suggestion(self, site: Site) -> Suggestion:
        excerpt = read_excerpt(site)
        torch = self.report.environment.get("torch", "")
        suggestion = Suggestion(
            file=site.file, line=site.line, gb_ids=site.gb_ids, model=self.settings.model, verdict=NO_ANSWER
        )
        try:
            text = request_answer(render_excerpt(site, excerpt, answers=self.answers, torch=torch), self.settings)
            answer = parse_answer(text)
        except (NoAnswer, NotUnderstood) as why:
            return replace(suggestion, reason=str(why))
        return self._tried(replace(suggestion, verdict=NOT_VERIFIED, cause=answer.cause), answer, excerpt)

    def _tried(self, suggestion: Suggestion, answer: ModelAnswer, excerpt: Excerpt | None) -> Suggestion:
        if not answer.blocks or excerpt is None:
            return replace(suggestion, reason="the model gives no patch")
        try:
            changed = apply_blocks(excerpt.whole, answer.blocks)
        except NotUnderstood as why:
            return replace(suggestion, reason=str(why))
        suggestion = replace(suggestion, patch=render_patch(excerpt, changed))
        if why_not := find_objection(excerpt.whole, changed):
            return replace(suggestion, reason=why_not)
        return self._run(suggestion, {excerpt.file: changed})

    def _run(self, suggestion: Suggestion, changes: dict[str, str]) -> Suggestion:
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
    """Why the patched text is not run, or what it does instead of mending; empty if there is nothing against it."""
    try:
        if refusals := find_refusals(before, after):
            return f"not run, as it goes beyond plain torch code: {'; '.join(refusals)}"
        dodges = find_dodges(before, after)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"the patched code does not parse: {error.args[0] if error.args else error}"
    return f"not run: {'; '.join(dodges)}" if dodges else ""


def render_patch(excerpt: Excerpt, changed: str) -> str:
    """A unified diff, as `patch` takes it."""
    name = Path(excerpt.file).name
    lines = difflib.unified_diff(
        excerpt.whole.splitlines(keepends=True), changed.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
