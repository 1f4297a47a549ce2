"""The input of a fix report: the breaks of a program or of a log. This module does not need torch."""

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
    """All sites with the same ids."""

    sites: tuple[Site, ...]
    """The most frequent site first, sites in libraries last."""

    @property
    def gb_ids(self) -> tuple[str, ...]:
        """The id of the cause, then the ids that it was reported as; empty if the registry does not know it."""
        return self.sites[0].gb_ids

    @property
    def gb_types(self) -> tuple[str, ...]:
        """The type of each id. For an unknown break, the type in its message."""
        return self.sites[0].gb_types

    @property
    def gb_id(self) -> str:
        return self.sites[0].gb_id

    @property
    def kind(self) -> str:
        """The worst of KINDS at its sites; empty if a log does not have it."""
        return min((site.kind for site in self.sites if site.kind), key=KINDS.index, default="")

    @property
    def message(self) -> str:
        """torch's message at the first site."""
        return self.sites[0].message

    @property
    def count(self) -> int:
        return sum(site.count for site in self.sites)

    @property
    def lost_seconds(self) -> float:
        return sum(site.lost_seconds for site in self.sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The input of `write_fix_report`."""

    subject: str
    """`train.py --steps 3`, or the names of the logs."""
    causes: tuple[Cause, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """torch, python, device and so on, if they are known."""
    facts: tuple[tuple[str, str], ...] = ()
    """Further lines of the summary: ("graphs", "8")."""
    remarks: tuple[str, ...] = ()
    """What the reader must know first: for example that the program failed, or that a log can't answer a question."""
    program: ProgramToRun | None = None
    """The program, to run it again; None for a log."""
    torch_xla: bool = False
    """Whether to write repros for torch_xla, too. That is so for logs of tt-xla, and for programs that import it."""


def causes_of(sites: Iterable[Site]) -> tuple[Cause, ...]:
    """Group sites by their ids; sites without ids by their types.

    The most frequent cause comes first.
    """
    chains: dict[tuple[str, ...], list[Site]] = {}
    for site in sites:
        chains.setdefault(site.gb_ids or ("", *site.gb_types), []).append(site)
    causes = (Cause(sites=tuple(sorted(chain, key=_order))) for chain in chains.values())
    return tuple(sorted(causes, key=lambda cause: (-cause.count, cause.gb_ids, cause.sites[0].where)))


def _order(site: Site) -> tuple[bool, int, str, int]:
    """A sort key: sites that the reader can change come before sites in libraries."""
    return bool(in_library(Path(site.file))), -site.count, site.file, site.line


def shown_site(site: Site) -> str:
    """The place of a site for the reader: `train.py:12`."""
    return shown_place(site.file, site.line) if site.file else "the log does not say where"


def findings_of_program(report: Report, program: ProgramToRun, *, torch_xla: bool = False) -> Findings:
    """The findings of a run of a program. With `torch_xla`, repros are written for that, too."""
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
        torch_xla=torch_xla,
    )


def findings_of_logs(analysis: LogAnalysis) -> Findings:
    """The findings in logs: `graphbreak log --report OUT/`."""
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
