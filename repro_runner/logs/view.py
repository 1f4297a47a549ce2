"""Prepare an analysis for showing: every break looks like a site of `graphbreak explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from registry.advice import Advisor
from repro_runner.explain.render import sentences
from repro_runner.explain.render.view import MessageView, ReportView, message_address, view_categories, view_sites
from repro_runner.logs.analysis import BINARY, LogAnalysis, LogFile
from repro_runner.logs.model import FoundMessage, Unfit
from repro_runner.logs.text import NO_BREAKS
from repro_runner.output.places import shown_place
from repro_runner.output.units import counted, size

_NAMES_SHOWN = 3
_FILES_NOTED = 20


def view_analysis(analysis: LogAnalysis, answers: Advisor, *, folder: Path) -> ReportView:
    """The view of an analysis. Paths below `folder` are shown relative to it."""
    sites = view_sites(analysis.breaks, answers, torch=analysis.torch, folder=folder)
    return ReportView(
        program=name_files(analysis),
        environment=sentences.environment({"torch": analysis.torch}),
        sites=sites,
        categories=view_categories(sites, answers),
        recompiles=(),
        totals=_totals(analysis),
        no_breaks="" if analysis.breaks else _no_breaks(analysis),
        ended="interrupted; this is what was read up to there" if analysis.interrupted else "",
        notes=tuple(describe_notes(analysis)),
        messages=tuple(_view_messages(analysis, answers, folder)),
    )


def _view_messages(analysis: LogAnalysis, answers: Advisor, folder: Path) -> Iterator[MessageView]:
    """One view of each message at each place. All recompiles are one view, with a line for each function and guard."""
    recompiles = [one for one in analysis.messages if one.guard]
    for one in analysis.messages:
        if one.guard and one is not recompiles[0]:
            continue
        known = answers.other_message(one.slug)
        place = f" at {_place(one, folder)}" if one.where and not one.guard else ""
        count = sum(each.count for each in recompiles) if one.guard else one.count
        yield MessageView(
            title=known.title,
            what=known.short,
            counts=f"reported {count}×{place}, first at {one.log}:{one.log_line}",
            text="" if one.guard else one.text,
            lines=tuple(
                f"{each.function} ({_place(each, folder)}) recompiled {each.count}×: {each.guard}"
                for each in recompiles
            )
            if one.guard
            else (),
            ways_out=answers.on_recompiles(each.text for each in recompiles if one.guard) or known.ways_out,
            link=message_address(known),
        )


def _place(one: FoundMessage, folder: Path) -> str:
    file, _, line = one.where.rpartition(":")
    return shown_place(file, int(line), folder)


def _no_breaks(analysis: LogAnalysis) -> str:
    """What it means that there are no breaks. Not every kind of log contains breaks."""
    if all(file.part.format == BINARY for file in analysis.files):
        return "nothing could be read"
    if analysis.messages:
        return "no graph breaks in it; what torch says in it is something else"
    unfit = any(file.part.unfit for file in analysis.files)
    return "nothing about graph breaks in it, and it is not fit to tell all:" if unfit else "no graph breaks in it"


def name_files(analysis: LogAnalysis) -> str:
    """The names of the inputs; if there are many, the first ones and a count."""
    return _first_names([file.name for file in analysis.files])


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {counted(more, 'other file')}" if more > 0 else "")


def _totals(analysis: LogAnalysis) -> str:
    unknown = len(analysis.unknown)
    return " · ".join(
        filter(
            None,
            (
                f"{counted(len(analysis.breaks), 'break')}, reported {analysis.reports}×" if analysis.breaks else "",
                f"{unknown} unknown" if unknown else "",
                counted(len(analysis.messages), "other message") if analysis.messages else "",
                counted(analysis.graphs, "graph") if analysis.graphs is not None else "",
                f"{analysis.format}, {size(sum(file.bytes for file in analysis.files))}",
            ),
        )
    )


def describe_notes(analysis: LogAnalysis) -> Iterator[str]:
    """Yield one sentence for each note, such as differences between ranks, unanswered questions and problems."""
    yield from (f"ranks differ: {line}" for line in analysis.differences)
    yield from _unanswered_questions(analysis)
    notes = [note for file in analysis.files for note in _file_notes(file, alone=len(analysis.files) == 1)]
    yield from notes[:_FILES_NOTED]
    if len(notes) > _FILES_NOTED:
        yield f"and {len(notes) - _FILES_NOTED} more notes on files; --format json has them all"
    yield from map(str, analysis.problems)


def find_commands(analysis: LogAnalysis) -> tuple[str, ...]:
    """The commands that make logs with the missing answers. A command that is part of another is left out."""
    commands = dict.fromkeys(one.command for one in _find_unfit(analysis))
    return tuple(one for one in commands if not any(one != other and one in other for other in commands))


def describe_commands(analysis: LogAnalysis) -> Iterator[str]:
    """Yield a sentence for each command of `find_commands`."""
    return (f"this makes a log that can tell: `{command}`" for command in find_commands(analysis))


def _unanswered_questions(analysis: LogAnalysis) -> Iterator[str]:
    for one, names in _find_unfit(analysis).items():
        which = f"{_first_names(names)}: " if len(analysis.files) > 1 else ""
        yield f"{which}not fit to tell {one.question}: {one.why}"


def _find_unfit(analysis: LogAnalysis) -> dict[Unfit, list[str]]:
    """The questions that files can't answer, each with the names of the files.

    A file without breaks that was only found in a folder may not be a log, so it is left out if others have breaks.
    """
    found: dict[Unfit, list[str]] = {}
    for file in analysis.files:
        for one in file.part.unfit:
            if file.named or not analysis.breaks or one.question != NO_BREAKS.question:
                found.setdefault(one, []).append(file.name)
    return found


def _file_notes(file: LogFile, *, alone: bool) -> Iterator[str]:
    start = "" if alone else f"{file.name}: "
    if file.part.format == BINARY and not file.named:
        yield f"{file.name}: not a text, left out"
    yield from (f"{start}{note}" for note in file.part.notes)
    yield from (f"{start}the program says: {error}" for error in file.part.errors)
