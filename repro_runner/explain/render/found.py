"""A report, and what else was asked for: all that a face can show."""

from __future__ import annotations

from dataclasses import dataclass

from repro_runner.explain.allowed import Judgement
from repro_runner.explain.report import Report
from repro_runner.explain.site import Site
from repro_runner.explain.suggestion import Suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of one run."""

    report: Report
    judgement: Judgement | None = None
    """How the sites compare with an allow-list."""
    suggestions: tuple[Suggestion, ...] | None = None
    """What a language model proposes; None where nobody asked one."""

    def is_new(self, site: Site) -> bool:
        """An allow-list was given, and does not allow it."""
        return self.judgement is not None and site in self.judgement.new

    def suggestion(self, site: Site) -> Suggestion | None:
        """What was proposed for the site."""
        return next((one for one in self.suggestions or () if (one.file, one.line) == (site.file, site.line)), None)
