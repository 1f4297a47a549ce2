"""What a log tells, as it is handed over: `graphbreak log --report OUT/`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repro_runner.capture.breaks import KINDS
from repro_runner.explain.site import Site
from repro_runner.fix_report import Cause, Findings, Location, by_frequency
from repro_runner.logs import tt_xla
from repro_runner.logs.analysis import LogAnalysis
from repro_runner.logs.view import describe_commands, describe_notes, name_files
from repro_runner.output.units import size


def findings_of_logs(analysis: LogAnalysis) -> Findings:
    """Breaks with the same chain of ids have the same cause; unknown ones are told apart by what they say."""
    chains: dict[tuple[str, ...], list[Site]] = {}
    for one in analysis.breaks:
        chains.setdefault(one.gb_ids or ("", *one.gb_types), []).append(one)
    return Findings(
        subject=name_files(analysis),
        causes=by_frequency(_cause(breaks) for breaks in chains.values()),
        environment={"torch": analysis.torch} if analysis.torch else {},
        facts=tuple(_facts(analysis)),
        remarks=(*describe_notes(analysis), *describe_commands(analysis)),
        torch_xla=any(file.part.format == tt_xla.NAME for file in analysis.files),
    )


def _cause(breaks: list[Site]) -> Cause:
    first = breaks[0]
    return Cause(
        gb_ids=first.gb_ids,
        gb_types=first.gb_types,
        kind=min((one.kind for one in breaks), key=KINDS.index),
        message=first.message,
        locations=tuple(_locations(breaks)),
    )


def _locations(breaks: Iterable[Site]) -> Iterator[Location]:
    for one in breaks:
        yield Location(
            file=one.file,
            line=one.line,
            function=one.function,
            source=one.source,
            compiled=one.count,
        )


def _facts(analysis: LogAnalysis) -> Iterator[tuple[str, str]]:
    yield "format", analysis.format
    yield "read", size(sum(file.bytes for file in analysis.files))
    yield "reports of breaks", str(analysis.reports)
    yield "graphs", str(analysis.graphs) if analysis.graphs is not None else "the log does not tell"
    if analysis.unknown:
        yield "breaks that the registry does not know", str(len(analysis.unknown))
