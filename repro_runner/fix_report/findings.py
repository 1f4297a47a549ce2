"""What a fix report is about, whoever found it: a run of a program, or a log. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from repro_runner.capture.breaks import KINDS
from repro_runner.output.places import in_library, shown_place
from repro_runner.output.units import size

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.report import Report
    from repro_runner.explain.site import Site
    from repro_runner.logs.analysis import LogAnalysis


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Breaks of one kind: sites with the same ids."""

    sites: tuple[Site, ...]
    """The most frequent first, those in libraries last."""

    @property
    def gb_ids(self) -> tuple[str, ...]:
        """The cause first, then what it surfaced as; empty for a message that the registry does not know."""
        return self.sites[0].gb_ids

    @property
    def gb_types(self) -> tuple[str, ...]:
        """The type of each id; of an unknown message, what it says."""
        return self.sites[0].gb_types

    @property
    def gb_id(self) -> str:
        return self.sites[0].gb_id

    @property
    def kind(self) -> str:
        """The worst that came of it, one of KINDS; empty where a log does not say."""
        return min((site.kind for site in self.sites if site.kind), key=KINDS.index, default="")

    @property
    def message(self) -> str:
        """As torch put it at the first site."""
        return self.sites[0].message

    @property
    def count(self) -> int:
        return sum(site.count for site in self.sites)

    @property
    def lost_seconds(self) -> float:
        return sum(site.lost_seconds for site in self.sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that `write_fix_report` needs to know."""

    subject: str
    """`train.py --steps 3`, or the names of the logs."""
    causes: tuple[Cause, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """torch, python, device and so on, as far as known."""
    facts: tuple[tuple[str, str], ...] = ()
    """Further lines of the summary: ("graphs", "8")."""
    remarks: tuple[str, ...] = ()
    """What the reader has to know first: the program failed half-way; the log is unfit for a question."""
    program: ProgramToRun | None = None
    """What can be run again; None for a log."""
    torch_xla: bool = False
    """Whether repros are wanted in torch_xla form, too: for logs of tt-xla."""


def causes_of(sites: Iterable[Site]) -> tuple[Cause, ...]:
    """Sites with the same chain of ids have the same cause; unknown ones are told apart by what they say.

    The most frequent first, then those that cost most time.
    """
    chains: dict[tuple[str, ...], list[Site]] = {}
    for site in sites:
        chains.setdefault(site.gb_ids or ("", *site.gb_types), []).append(site)
    causes = (Cause(sites=tuple(sorted(chain, key=_order))) for chain in chains.values())
    return tuple(sorted(causes, key=lambda cause: (-cause.count, -cause.lost_seconds, cause.gb_ids)))


def _order(site: Site) -> tuple[bool, int, float, str, int]:
    """What the reader can change comes first."""
    return bool(in_library(Path(site.file))), -site.count, -site.lost_seconds, site.file, site.line


def shown_site(site: Site) -> str:
    """`train.py:12`, for a reader."""
    return shown_place(site.file, site.line) if site.file else "the log does not say where"


def findings_of_program(report: Report, program: ProgramToRun) -> Findings:
    """What a run of a program showed."""
    totals = report.totals
    ended = report.program.error.partition("\n")[0]
    return Findings(
        subject=" ".join([program.name, *program.arguments]),
        causes=causes_of(report.sites),
        environment=report.environment,
        facts=(
            ("graphs", str(totals.graphs)),
            ("ops in graphs", str(totals.ops)),
            ("compilations", f"{totals.compilations} of {totals.frames} functions and rests of functions"),
            ("recompiles", str(len(report.recompiles))),
            ("time spent compiling", f"{totals.compile_seconds:.2f} s"),
            ("of that lost to breaks", f"{sum(site.lost_seconds for site in report.sites):.2f} s"),
        ),
        remarks=(f"The program ended with an error, and this is what was seen up to there: {ended}",) if ended else (),
        program=program,
    )


def findings_of_logs(analysis: LogAnalysis) -> Findings:
    """What the logs tell: `graphbreak log --report OUT/`."""
    from repro_runner.logs import tt_xla
    from repro_runner.logs.view import describe_commands, describe_notes, name_files

    facts = [
        ("format", analysis.format),
        ("read", size(sum(file.bytes for file in analysis.files))),
        ("reports of breaks", str(analysis.reports)),
        ("graphs", str(analysis.graphs) if analysis.graphs is not None else "the log does not tell"),
    ]
    if analysis.unknown:
        facts.append(("breaks that the registry does not know", str(len(analysis.unknown))))
    return Findings(
        subject=name_files(analysis),
        causes=causes_of(analysis.breaks),
        environment={"torch": analysis.torch} if analysis.torch else {},
        facts=tuple(facts),
        remarks=(*describe_notes(analysis), *describe_commands(analysis)),
        torch_xla=any(file.part.format == tt_xla.NAME for file in analysis.files),
    )
