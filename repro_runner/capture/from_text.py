"""A second way to find breaks: torch's log of graph breaks. It checks that the recorder missed none."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from registry.ids import linked_ids
from registry.message_layout import FRAME, GIVEN_UP, GRAPH_BREAKS, LOCATION

_REPORTERS = ("symbolic_convert", "convert_frame")
"""The modules of Dynamo that report a break in the log."""

_WRITERS = (*_REPORTERS, "exc")
"""All modules that write into it. The last one writes why a backend failed, before that is reported as a break."""

_CUDA_GRAPHS = ("__cudagraphs", "__perf_hints")
"""The logs with the graphs that CUDA graphs left out: torch's newer one and its older one."""
_LEFT_OUT = "skipping cudagraph"


@contextmanager
def logged_ids() -> Iterator[set[str]]:
    """Collect the ids in the links of torch's graph_breaks log. The log is not printed meanwhile."""
    found: set[str] = set()

    def collect(record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += logging.Formatter().formatException(record.exc_info)
        found.update(linked_ids(text))

    with _listening(collect, printed=False):
        yield found


@dataclass(slots=True)
class LoggedPlaces:
    """How often torch's log reports a break at each (file, line)."""

    reports: Counter[tuple[str, int]] = field(default_factory=Counter)
    complete: bool = True
    """False if the program set up torch's logs anew, so that reports may be missing."""


@contextmanager
def logged_places() -> Iterator[LoggedPlaces]:
    """Count the reports in torch's graph_breaks log. It is printed only if the user asked torch to print it."""
    found = LoggedPlaces()
    reported = _listening(
        lambda record: found.reports.update([_place_of(record.getMessage())]), printed=True, writers=_REPORTERS
    )
    with reported as listens:
        yield found
        found.complete = listens()


@contextmanager
def logged_cuda_graph_skips(report: Callable[[str], None]) -> Iterator[None]:
    """Give every text in which torch says that it leaves CUDA graphs out to `report`, when it is said."""
    handler = _Listener(lambda record: report(record.getMessage()) if _LEFT_OUT in record.getMessage() else None)
    loggers = [logging.getLogger(f"torch._inductor.cudagraph_utils.{name}") for name in _CUDA_GRAPHS]
    for one in loggers:
        one.addHandler(handler)
    try:
        yield
    finally:
        for one in loggers:
            one.removeHandler(handler)


def _place_of(report: str) -> tuple[str, int]:
    """The line that broke: torch names it in the first line of a report, or lists the frames that lead to it.

    A break before the first instruction has no frames: then the line of the function that is given up.
    """
    if named := LOCATION.match(report.partition("\n")[0]):
        file, _, line = named[1].rpartition(":")
        return file, int(line)
    frames = [frame for line in report.splitlines() if (frame := FRAME.match(line))]
    if frames:
        return frames[-1][1], int(frames[-1][2])
    given_up = GIVEN_UP.search(report)
    return (given_up[2], int(given_up[3])) if given_up else ("", 0)


class _Listener(logging.Handler):
    def __init__(self, collect: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.DEBUG)
        self._collect = collect

    def emit(self, record: logging.LogRecord) -> None:
        self._collect(record)


@contextmanager
def _listening(
    collect: Callable[[logging.LogRecord], None], *, printed: bool, writers: Sequence[str] = _WRITERS
) -> Iterator[Callable[[], bool]]:
    """Give every record of torch's graph_breaks log to `collect`. Yields whether this is still so.

    The log is written while this lasts. It goes to the user only if he asked for it, and `printed` allows it.
    """
    handler = _Listener(collect)
    loggers = [logging.getLogger(f"torch._dynamo.{name}.{GRAPH_BREAKS}") for name in writers]
    before = [(one, one.level, one.propagate, list(one.handlers)) for one in loggers]
    for one in loggers:
        if printed and one.isEnabledFor(logging.DEBUG):
            one.addHandler(handler)
            continue
        one.setLevel(logging.DEBUG)
        one.propagate = False
        one.handlers = [handler]
    try:
        yield lambda: all(handler in one.handlers and one.isEnabledFor(logging.DEBUG) for one in loggers)
    finally:
        for one, level, propagate, handlers in before:
            if handler in one.handlers:  # else the program set up the log itself
                one.setLevel(level)
                one.propagate = propagate
                one.handlers = handlers


def unnamed(found: set[str], captured: set[str]) -> str:
    """An error text with the ids that the log has and the capture does not; empty when none is missing."""
    missing = ", ".join(sorted(found - captured))
    return f"the log of torch {torch.__version__} names {missing}, which the capture did not see" if missing else ""


def miscounted(logged: Mapping[tuple[str, int], int], captured: Mapping[tuple[str, int], int]) -> list[str]:
    """A line for each (file, line) that the log does not report as often as the capture has it."""
    counts = {place: (logged.get(place, 0), captured.get(place, 0)) for place in sorted({*logged, *captured})}
    return [
        f"{file}:{line}: torch's log reports {reports}, the capture has {breaks}"
        for (file, line), (reports, breaks) in counts.items()
        if reports != breaks
    ]
