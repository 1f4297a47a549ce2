"""The graphs of a tt-xla log: each begins with a vhlo header, and goes through stages on its own thread."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from repro_runner.capture.breaks import RESUME_PREFIX
from repro_runner.logs.tt_xla.lines import LOCATION
from repro_runner.logs.tt_xla.splitting import Since

FIRST = "vhlo"
_RESUMED = RESUME_PREFIX.encode()
MARKERS_READ = 5_000
"""Of a graph; they are enough to know where it comes from."""
_PIECE = 256 * 1024
_PLACES_KEPT = 5
_ERRORS_KEPT = 5

Place = tuple[str, int, str]
"""File, line, function; the function is empty where the marker has none."""


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


class Graphs:
    """Follows the threads; whoever compiles at the same time is told apart by the thread in the header."""

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
