"""An analysis as it is shown: every break as `graphbreak explain` shows a site, with what only logs tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from registry.advice import Answers
from repro_runner.explain.render.view import ReportView, SiteView, view_report
from repro_runner.explain.report import Frequency, Program, Report, Site
from repro_runner.logs.analysis import LogAnalysis, LogFile
from repro_runner.logs.formats import BINARY
from repro_runner.logs.model import LoggedBreak, Unfit
from repro_runner.logs.text import NO_BREAKS
from repro_runner.output.units import counted, size

UNKNOWN = "unknown"
_NOWHERE = "(the log does not say where)"
_NAMES_SHOWN = 3
_FILES_NOTED = 20


def view_analysis(analysis: LogAnalysis, answers: Answers, *, folder: Path) -> ReportView:
    """What is shown; paths in `folder` are shown relative to it."""
    report = Report(
        environment={"torch": analysis.torch} if analysis.torch else {},
        program=Program(name=name_files(analysis)),
        sites=tuple(map(_site, analysis.breaks)),
    )
    view = view_report(report, answers, folder=folder)
    shown = zip(view.sites, analysis.breaks, strict=True)
    sites = {site.number: _as_logged(site, one) for site, one in shown}
    categories = (
        replace(category, sites=tuple(sites[site.number] for site in category.sites)) for category in view.categories
    )
    return replace(
        view,
        sites=tuple(sites.values()),
        categories=tuple(categories),
        totals=_totals(analysis),
        no_breaks="" if analysis.breaks else _no_breaks(analysis),
        ended="interrupted; this is what was read up to there" if analysis.interrupted else "",
        notes=tuple(describe_notes(analysis)),
    )


def _no_breaks(analysis: LogAnalysis) -> str:
    """Silence is an answer only of a log that could have told."""
    if all(file.part.format == BINARY for file in analysis.files):
        return "nothing could be read"
    unfit = any(file.part.unfit for file in analysis.files)
    return "nothing about graph breaks in it, and it is not fit to tell all:" if unfit else "no graph breaks in it"


def name_files(analysis: LogAnalysis) -> str:
    """The inputs; of many, the first."""
    return _some([file.name for file in analysis.files])


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {counted(more, 'other file')}" if more > 0 else "")


def _site(one: LoggedBreak) -> Site:
    """For the faces; what a log can't tell is put right in _as_logged."""
    return Site(
        file=one.file,
        line=one.line,
        function=one.function,
        source=one.source,
        gb_ids=one.gb_ids or (UNKNOWN,),
        gb_types=one.gb_types if one.gb_ids else one.gb_types[:1] or ("",),
        kind=one.kind,
        message=one.message,
        context=one.context,
        explanation=one.explanation if one.gb_ids else one.message,
        hints=one.hints,
        stack=(),
        compiled=one.count,
        frequency=Frequency(ran=None),
    )


def _as_logged(site: SiteView, one: LoggedBreak) -> SiteView:
    return replace(
        site,
        where=site.where if one.file else _NOWHERE,
        function=one.function or "a function that the log does not name",
        excerpt=site.excerpt if one.source else (),
        link=site.link if one.gb_ids else "",
        happened=site.happened or "the log does not say what became of the graph",
        counts=_counts(one),
    )


def _counts(one: LoggedBreak) -> str:
    told = f"reported {one.count}×, first at {one.log}:{one.log_line}"
    if one.ranks:
        told += "; " + ", ".join(f"{count}× on rank {rank}" for rank, count in one.ranks.items())
    if one.candidates:
        told += f"; the words may also stand for {', '.join(one.candidates)}"
    if not one.gb_ids:
        told += "; the registry does not know it"
    return told


def _totals(analysis: LogAnalysis) -> str:
    unknown = len(analysis.unknown)
    return " · ".join(
        filter(
            None,
            (
                f"{counted(len(analysis.breaks), 'break')}, reported {analysis.reports}×" if analysis.breaks else "",
                f"{unknown} unknown" if unknown else "",
                counted(analysis.graphs, "graph") if analysis.graphs is not None else "",
                f"{analysis.format}, {size(sum(file.bytes for file in analysis.files))}",
            ),
        )
    )


def describe_notes(analysis: LogAnalysis) -> Iterator[str]:
    """What there is to know beside the breaks, a sentence each; the commands for what a log can't tell are apart."""
    yield from (f"ranks differ: {line}" for line in analysis.differences)
    yield from _unfit(analysis)
    told = [note for file in analysis.files for note in _file_notes(file, alone=len(analysis.files) == 1)]
    yield from told[:_FILES_NOTED]
    if len(told) > _FILES_NOTED:
        yield f"and {len(told) - _FILES_NOTED} more notes on files; --format json has them all"
    yield from map(str, analysis.problems)


def find_commands(analysis: LogAnalysis) -> tuple[str, ...]:
    """The command lines that make logs which can tell what these can't; none that is part of another."""
    commands = dict.fromkeys(one.command for one in _find_unfit(analysis))
    return tuple(one for one in commands if not any(one != other and one in other for other in commands))


def describe_commands(analysis: LogAnalysis) -> Iterator[str]:
    """A sentence for each of them."""
    return (f"this makes a log that can tell: `{command}`" for command in find_commands(analysis))


def _unfit(analysis: LogAnalysis) -> Iterator[str]:
    for one, names in _find_unfit(analysis).items():
        which = f"{_some(names)}: " if len(analysis.files) > 1 else ""
        yield f"{which}not fit to tell {one.question}: {one.why}"


def _find_unfit(analysis: LogAnalysis) -> dict[Unfit, list[str]]:
    """What can't be told, and by which files; files beside a log in a folder need not be logs."""
    found: dict[Unfit, list[str]] = {}
    for file in analysis.files:
        for one in file.part.unfit:
            if file.named or not analysis.breaks or one != NO_BREAKS:
                found.setdefault(one, []).append(file.name)
    return found


def _file_notes(file: LogFile, *, alone: bool) -> Iterator[str]:
    start = "" if alone else f"{file.name}: "
    if file.part.format == BINARY and not file.named:
        yield f"{file.name}: not a text, left out"
    yield from (f"{start}{note}" for note in file.part.notes)
    yield from (f"{start}the program says: {error}" for error in file.part.errors)
