"""Turn a trace into a part of an analysis: its breaks by site, its graphs, and a document for each process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from registry.matching import Match
from repro_runner.explain.merging import Gathering
from repro_runner.explain.site import Site
from repro_runner.logs.model import Input, LogPart
from repro_runner.logs.traces.compilations import Compilation, ProcessTrace, TraceBreak, process_document
from repro_runner.logs.traces.reading import TraceReader

NAME = "torch trace"


def open_reader(source: Input) -> PartReader:
    """A reader for one file of a trace."""
    return PartReader(source)


class PartReader:
    """Reads the blocks of one trace file, and returns its part of the analysis."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._traces = TraceReader(source.matcher, torch=source.torch or "")

    def feed(self, block: bytes) -> None:
        self._traces.feed(block)

    def finish(self) -> LogPart:
        processes = self._traces.finish()
        if len(processes) == 1 and processes[0].rank is None and self._source.rank.isdecimal():
            processes[0].rank = int(self._source.rank)
        documents = [process_document(process) for process in processes]
        damage = str(self._traces.damage)
        ranks = {process.rank for process in processes}
        return LogPart(
            format=NAME,
            graphs=sum(document["graphs"] for document in documents),
            breaks=gather_sites(processes, self._source.log),
            rank=str(processes[0].rank) if len(ranks) == 1 and processes[0].rank is not None else "",
            torch=next((process.torch for process in processes if process.torch), ""),
            errors=tuple(_failures(processes)),
            notes=(f"damaged: {damage}; all that could be read is here",) if damage else (),
            details={"processes": documents},
        )


def gather_sites(processes: Iterable[ProcessTrace], log: str) -> tuple[Site, ...]:
    """One site per place and cause, for all compilations of all processes."""
    return Gathering(
        _make_site(process, compilation, found, log) for process in processes for compilation, found in process.breaks()
    ).breaks


def _make_site(process: ProcessTrace, compilation: Compilation, found: TraceBreak, log: str) -> Site:
    chain = [match for match in found.match.chain if match.gb_ids]
    cause = found.match.chain[0]
    frame = found.stack[-1] if found.stack else None
    file, line = found.place
    types = {match.gb_ids[0]: match.message.gb_type for match in chain}
    return Site(
        gb_ids=found.gb_ids,
        gb_types=tuple(types.values()) or (cause.message.gb_type,),
        how=cause.how,
        message=_whole_text(found.match),
        candidates=tuple(dict.fromkeys(gb_id for match in chain for gb_id in match.gb_ids[1:])),
        kind=found.kind,
        file=file,
        line=line,
        function=frame.function if frame else "",
        source=frame.source if frame else "",
        explanation=cause.message.explanation,
        hints=cause.message.hints,
        context=cause.message.context,
        ranks={} if process.rank is None else {str(process.rank): 1},
        compile_ids=(compilation.compile_id,),
        log=log,
        log_line=found.line,
    )


def _whole_text(match: Match) -> str:
    return "\n\n".join(part.message.text for part in match.chain)


def _failures(processes: Iterable[ProcessTrace]) -> Iterator[str]:
    """Yield a text for each compilation that failed for another reason than a break."""
    for process in processes:
        for compilation in process.compilations.values():
            if compilation.failure:
                yield f"{compilation.function} ({compilation.compile_id}): {compilation.failure}"
