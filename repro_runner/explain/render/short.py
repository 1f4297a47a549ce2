"""A report in a few plain lines, without asking the registry: what Python shows of it."""

from __future__ import annotations

from pathlib import Path

from repro_runner.explain.render import words
from repro_runner.explain.report import Report
from repro_runner.output.terminal import plain, table


def short_text(report: Report) -> str:
    """The totals, then a line per site."""
    folder = Path.cwd()
    rows = [
        (
            " → ".join(site.gb_ids),
            site.kind,
            words.where(site, folder),
            f"compiled {site.compiled}×, ran {words.ran(site)}×",
        )
        for site in report.sites
    ]
    closing = (words.no_breaks(report), words.ended(report.program))
    return "\n".join([words.totals(report), *table(rows, indent="  "), *(plain(line) for line in closing if line)])
