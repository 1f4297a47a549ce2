"""The graphs of a tt-xla log: each begins with a vhlo header, and goes through stages on its own thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from repro_runner.capture.breaks import RESUME_PREFIX
from repro_runner.logs.tt_xla.lines import LOCATION

OWN = "own"
"""It was not split off: Dynamo began a frame of its own for it."""
NOT_TOLD = "not told"

_FRAME = b"torchdynamo start tracing"
_RESUMED = RESUME_PREFIX.encode()
_RESUMED_FRAME = _FRAME + b" " + _RESUMED
_HANDED = b"Step 2: calling compiler function"
_LEFT_TO_PYTHON = (b"falling back to eager", b"WON'T CONVERT")
_XLA_CAUSE = re.compile(rb"Compilation Analysis: Compilation Cause[^\n]*\n[^\n]*Compilation Analysis: +([^\n]*)")
_XLA_SIGNS = (b"pt-xla-profiler: Op(s) not lowered", b"Found an argument on non-XLA device")
_EXPORT_SIGNS = (b"torch.export", b"torch/export/", b"torch._export", b"ExportedProgram")
_LONGEST = 200
"""Characters kept of a line that is evidence."""
FIRST = "vhlo"
MARKERS_READ = 5_000
"""Of a graph; they are enough to know where it comes from."""
_PIECE = 256 * 1024
_PLACES_KEPT = 5
_ERRORS_KEPT = 5
Place = tuple[str, int, str]
"""File, line, function; the function is empty where the marker has none."""


@dataclass(slots=True)
class Since:
    """What the log shows between the beginnings of two graphs."""

    frames: int = 0
    resumed: int = 0
    handed: int = 0
    left_to_python: int = 0
    xla: str = ""
    """torch_xla's own words for why it compiled, the first."""
    export: str = ""

    def look_at(self, text: bytes) -> None:
        """Take in lines that stand outside of modules."""
        if b"_dynamo" in text:
            self.frames += text.count(_FRAME)
            self.resumed += text.count(_RESUMED_FRAME)
            self.handed += text.count(_HANDED)
            self.left_to_python += sum(text.count(words) for words in _LEFT_TO_PYTHON)
        if not self.xla:
            self.xla = _find_xla_cause(text)
        if not self.export:
            self.export = _find_line(text, _EXPORT_SIGNS)


def _find_xla_cause(text: bytes) -> str:
    """Why torch_xla cut the graph; that Dynamo handed it one is no cut."""
    for cause in _XLA_CAUSE.finditer(text):
        if b"dynamo" not in cause[1]:
            return cause[1].decode("utf-8", "replace").strip()[:_LONGEST]
    return _find_line(text, _XLA_SIGNS)


def _find_line(text: bytes, signs: Iterable[bytes]) -> str:
    """The rest of the first line that has one of the signs, from the sign on."""
    for sign in signs:
        at = text.find(sign)
        if at >= 0:
            return text[at : at + _LONGEST].split(b"\n")[0].decode("utf-8", "replace").strip()
    return ""


def find_splitter(since: Since, *, resumed: bool, first: bool, with_dynamo: bool) -> str:
    """Dynamo, torch_xla or export; `own` for a graph that was not split off, `not told` where the log is silent."""
    if first:
        return OWN
    if resumed or since.resumed or since.left_to_python:
        return "Dynamo"
    if since.xla:
        return "torch_xla"
    if since.frames:
        return OWN
    if since.export:
        return "export"
    # with +dynamo every frame is in the log: a graph without one is a further piece of what Dynamo handed over as one
    return "torch_xla" if with_dynamo and not since.handed else NOT_TOLD


@dataclass(slots=True, kw_only=True)
class Graph:
    """One graph, as far as the log follows it."""

    line: int
    thread: str
    since: Since
    """What happened since the graph before it."""
    stages: list[str] = field(default_factory=list)
    ended: bool = True
    """Whether the text of its last stage is all there."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """(line of the log, text), the first few."""
    resumed: bool = False
    """Whether it holds code that Dynamo runs after a break."""
    places: Counter[Place] = field(default_factory=Counter)
    placed_by: int = 0
    """The number of the stage in which places were sought last."""

    @property
    def began_here(self) -> bool:
        """A log that was cut at its beginning has stages of a graph whose header it lost."""
        return self.stages[0] == FIRST

    def add_error(self, line: int, text: str) -> None:
        if len(self.errors) < _ERRORS_KEPT:
            self.errors.append((line, text))

    def top_places(self) -> list[tuple[Place, int]]:
        return sorted(self.places.items(), key=lambda place: (-place[1], place[0]))[:_PLACES_KEPT]


class GraphFollower:
    """Follows the threads; graphs that are compiled at the same time differ by the thread in the header."""

    def __init__(self) -> None:
        self.all: list[Graph] = []
        self.markers = 0
        self._of_thread: dict[str, Graph] = {}
        self._open: dict[str, Graph] = {}
        """Threads whose module is being printed, the newest last."""

    @property
    def in_module(self) -> bool:
        return bool(self._open)

    @property
    def threads(self) -> int:
        return len(self._of_thread)

    def begin_stage(self, thread: str, stage: str, line: int, since: Since) -> bool:
        """A header was read; say whether a graph began with it."""
        before = self._of_thread.get(thread)
        is_new = before is None or stage == FIRST
        if is_new:
            before = self._of_thread[thread] = Graph(line=line, thread=thread, since=since)
            self.all.append(before)
        assert before is not None
        before.places = Counter(dict(before.top_places()))  # the rest of a log may be long
        before.stages.append(stage)
        before.ended = False
        self._open.pop(thread, None)
        self._open[thread] = before
        return is_new

    def end_stage(self) -> None:
        """A marker was read: it has no thread, so with several modules open the one that began first has ended."""
        self.markers += 1
        if self._open:
            self._open.pop(next(iter(self._open))).ended = True

    def of_thread(self, thread: str) -> Graph | None:
        return self._of_thread.get(thread)

    def read_module(self, text: bytes) -> None:
        """Places are in every stage: the first that has some is enough, and the rest is never searched."""
        graph = next(reversed(self._open.values()))
        if graph.places and len(graph.stages) > graph.placed_by:
            return
        graph.placed_by = len(graph.stages)
        graph.resumed = graph.resumed or _RESUMED in text
        start = text.find(b'loc("')  # they stand together, before or after the operations
        while 0 <= start < len(text) and sum(graph.places.values()) < MARKERS_READ:
            end = text.find(b"\n", start + _PIECE) + 1 or len(text)
            graph.places.update(_find_places(text, start, end))
            start = end


def _find_places(text: bytes, start: int, end: int) -> dict[Place, int]:
    """Places in a piece of the text, and how many operations come from each."""
    found: Counter[Place] = Counter()
    for marker, count in Counter(LOCATION.findall(text, start, end)).items():
        file, first, function, line, other_file, other_line = marker
        name = (file or other_file).decode("utf-8", "replace")
        found[name, int(line or first or other_line), function.decode("utf-8", "replace")] += count
    return found
