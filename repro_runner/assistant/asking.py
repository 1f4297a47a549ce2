"""Ask a model about the most frequent breaks of a program, and try the patches that it proposes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Advisor
from registry.model import REFUSED
from repro_runner.assistant.client import COSTLIEST, NoReply, Settings, request_reply
from repro_runner.assistant.prompt import Excerpt, read_excerpt, render_excerpt, render_prompt
from repro_runner.assistant.reply import ModelReply, NotUnderstood, apply_blocks, parse_reply
from repro_runner.explain.report import Report
from repro_runner.explain.site import NO_ANSWER, Site, Suggestion
from repro_runner.fix_report.judging import Tell, judge_patch
from repro_runner.fix_report.patches.source import diff_texts
from repro_runner.fix_report.trial import TrialRunner

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun


def render_prompts(report: Report, *, answers: Advisor, sites: int = COSTLIEST) -> tuple[str, ...]:
    """The exact texts that ask() would send: one prompt for each of the most frequent sites."""
    torch = report.environment.get("torch", "")
    return tuple(render_prompt(site, answers=answers, torch=torch) for site in report.sites[:sites])


def ask(
    report: Report, program: ProgramToRun, settings: Settings, *, answers: Advisor, tell: Tell = lambda _: None
) -> tuple[Suggestion, ...]:
    """A suggestion for each of the most frequent sites. Errors of the server become suggestions without an answer.

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
        return self._check_patch(replace(suggestion, verdict=REFUSED, cause=reply.cause), reply, excerpt)

    def _check_patch(self, suggestion: Suggestion, reply: ModelReply, excerpt: Excerpt | None) -> Suggestion:
        if not reply.blocks or excerpt is None:
            return replace(suggestion, reason="the model gives no patch")
        try:
            changed = apply_blocks(excerpt.whole, reply.blocks)
        except NotUnderstood as why:
            return replace(suggestion, reason=str(why))
        suggestion = replace(suggestion, patch=render_patch(excerpt, changed))
        judged = judge_patch(
            self.trials,
            {excerpt.file: (excerpt.whole, changed)},
            tell=lambda line: self.tell(f"{suggestion.where}: {line}"),
        )
        return replace(
            suggestion,
            verdict=judged.verdict,
            reason=judged.reason if judged.was_run else f"not run: {judged.reason}",
            notes=judged.notes,
            breaks_before=judged.breaks_before,
            breaks_after=judged.breaks_after,
            outputs=judged.outputs,
        )


def render_patch(excerpt: Excerpt, changed: str) -> str:
    """The change as a unified diff for the `patch` command."""
    return diff_texts(excerpt.whole, changed, Path(excerpt.file).name)
