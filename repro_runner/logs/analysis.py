"""Read all inputs, each with the reader for its format, and count their breaks together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from registry.advice import Advisor
from registry.errors import Problem
from registry.matching import Matcher
from repro_runner.explain.merging import Gathering, find_differences
from repro_runner.explain.site import Site
from repro_runner.logs import text, traces, tt_xla
from repro_runner.logs.blocks import HEAD, Stream, find_quoting
from repro_runner.logs.model import Format, FoundMessage, Input, LogPart, gather_messages
from repro_runner.logs.sources import FoundSources, Source, open_source
from repro_runner.logs.text import TEXT, TRACEBACK
from repro_runner.logs.traces.compilations import ProcessDocument

BINARY = "binary"
FORMATS: tuple[Format, ...] = (traces, tt_xla, text)
"""The first format that recognises an input reads it. `text`, which recognises everything, comes last."""

_TEXT = bytes(range(32, 127)) + bytes(range(128, 256)) + b"\a\b\t\n\v\f\r\x1b"
_MOST_OTHERS = 0.05
"""An input with a larger share of control characters is binary. A damaged text may have some."""
MIXED = "mixed"
PROCESSES = "processes"
"""The key of the processes in the details of a trace."""
_INTERRUPTED = "interrupted"


def find_format(head: bytes) -> Format | None:
    """The format of an input that starts with these bytes; None for a binary file."""
    first = head[:HEAD]
    if len(first.translate(None, _TEXT)) > _MOST_OTHERS * len(first):
        return None
    return next(each for each in FORMATS if each.recognise(head))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One input, and what the reader found in it."""

    name: str
    named: bool
    """Whether the user named it. Otherwise it was found in a folder."""
    bytes: int
    """Its size after decompression."""
    part: LogPart
    cut: str = ""
    """Why it was not read to its end; empty if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAnalysis:
    """What was found in all inputs together."""

    format: str
    """The format of the inputs, without binary ones and, if possible, without plain text; "mixed" if they differ."""
    files: tuple[LogFile, ...]
    graphs: int | None
    """The number of graphs in all inputs that count them; None if no input does."""
    breaks: tuple[Site, ...]
    """All breaks, the most frequent first."""
    messages: tuple[FoundMessage, ...]
    """Messages of torch's that are no graph breaks, the most frequent first."""
    torch: str
    """The release that the user gave, else the one in the inputs; empty if no input has it, or if they differ."""
    differences: tuple[str, ...] = ()
    """How the ranks of one job differ, one line per difference."""
    problems: tuple[Problem, ...] = ()
    """Inputs that could not be read completely."""
    interrupted: bool = False

    @property
    def reports(self) -> int:
        return sum(one.count for one in self.breaks)

    @property
    def unknown(self) -> tuple[Site, ...]:
        """The breaks that the registry does not know, neither by an id nor by a page."""
        return tuple(one for one in self.breaks if not one.gb_ids and one.how != "form")


def analyse(
    sources: FoundSources, matcher: Matcher, *, torch: str | None = None, advance: Callable[[int], None] | None = None
) -> LogAnalysis:
    """Read every input; one that can't be read becomes a problem. After Ctrl-C, the analysis has what was read so far.

    `torch` is the release that wrote the logs. `advance` is called with the number of bytes that were read.
    """
    files: list[LogFile] = []
    problems = list(sources.problems)
    interrupted = False
    for source in sources.found:
        try:
            file = read_source(source, matcher, torch=torch, advance=advance)
        except OSError as error:
            problems.append(Problem(source.name, f"{error.strerror or error}; it is left out"))
            continue
        files.append(file)
        if file.cut == _INTERRUPTED:
            interrupted = True
            break
        if file.cut:
            problems.append(Problem(source.name, f"{file.cut}; what came before is counted"))
        if file.part.format == BINARY and source.named:
            problems.append(Problem(source.name, "not a text; name a log, a trace or a traceback"))
    return _combine(files, problems, torch=torch, interrupted=interrupted)


def with_titles(analysis: LogAnalysis, answers: Advisor) -> LogAnalysis:
    """Add the registry's type to breaks that a log names only by their link."""
    return replace(analysis, breaks=tuple(_with_types(one, answers) for one in analysis.breaks))


def _with_types(one: Site, answers: Advisor) -> Site:
    types = []
    for place, gb_id in enumerate(one.gb_ids):
        printed = one.gb_types[place] if place < len(one.gb_types) else ""
        known = None if printed else answers.advise(gb_id, torch="")
        types.append(known.gb_type if known else printed)
    return replace(one, gb_types=tuple(types)) if types else one


def read_source(
    source: Source, matcher: Matcher, *, torch: str | None = None, advance: Callable[[int], None] | None = None
) -> LogFile:
    """Read one input, up to the size that it had when it was opened. Raises OSError if it can't be opened."""
    with open_source(source) as (raw, limit):
        stream = Stream(raw, limit, advance)
        blocks: Iterator[bytes] = stream.blocks()
        first = next(blocks, b"")
        quoting = find_quoting(first)
        if quoting:
            first, blocks = quoting.unquote(first), map(quoting.unquote, blocks)
        found = find_format(first)
        if found is None:
            return LogFile(
                name=source.name, named=source.named, bytes=stream.unpacked_bytes, part=LogPart(format=BINARY)
            )
        reader = found.open_reader(Input(log=source.name, matcher=matcher, torch=torch, rank=source.rank))
        block, interrupted = first, ""
        try:
            reader.feed(first)
            for block in blocks:
                reader.feed(block)
        except KeyboardInterrupt:
            interrupted = _INTERRUPTED
        part = reader.finish()
    if quoting and quoting.note:
        part = replace(part, notes=(quoting.note, *part.notes))
    elif part.format not in (TEXT, TRACEBACK) and not block.endswith(b"\n"):
        part = replace(part, notes=(*part.notes, "the last line has no end: the log may have been cut there"))
    return LogFile(
        name=source.name,
        named=source.named,
        bytes=stream.unpacked_bytes,
        part=part,
        cut=interrupted or stream.cut,
    )


def _combine(
    files: Sequence[LogFile], problems: Sequence[Problem], *, torch: str | None, interrupted: bool
) -> LogAnalysis:
    parts = [file.part for file in files]
    formats = {part.format for part in parts} - {BINARY}
    telling = formats - {TEXT} or formats
    graphs = [part.graphs for part in parts if part.graphs is not None]
    releases = {part.torch for part in parts if part.torch}
    breaks = Gathering(one for part in parts for one in part.breaks).breaks
    return LogAnalysis(
        format=telling.pop() if len(telling) == 1 else MIXED if telling else BINARY if parts else TEXT,
        files=tuple(files),
        graphs=sum(graphs) if graphs else None,
        breaks=tuple(sorted(breaks, key=lambda one: (-one.count, one.file, one.line, one.gb_ids))),
        messages=tuple(
            sorted(gather_messages(one for part in parts for one in part.messages), key=lambda one: -one.count)
        ),
        torch=torch or (releases.pop() if len(releases) == 1 else ""),
        differences=tuple(_find_differences(parts)),
        problems=tuple(problems),
        interrupted=interrupted,
    )


def _find_differences(parts: Sequence[LogPart]) -> Iterator[str]:
    """Yield one line per difference between ranks; nothing if there is one rank, or if all ranks are the same."""
    documents: list[ProcessDocument] = []
    for part in parts:
        processes = part.details.get(PROCESSES, ())
        assert isinstance(processes, Sequence)
        documents += processes
    # Ranks are compared where there is more than one trace.
    if sum(PROCESSES in part.details for part in parts) > 1 and (found := traces.find_rank_differences(documents)):
        yield from traces.describe_differences(found)
    yield from _differences_by_count([part for part in parts if PROCESSES not in part.details])


def _differences_by_count(parts: Sequence[LogPart]) -> Iterator[str]:
    graphs: Counter[str] = Counter()
    for part in parts:
        if part.rank:
            graphs[part.rank] += part.graphs or 0
    return find_differences(Gathering(one for part in parts for one in part.breaks).breaks, graphs)
