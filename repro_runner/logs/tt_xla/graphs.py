"""The graphs of a tt-xla log. Each starts with a vhlo header, and goes through stages on its own thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from repro_runner.capture.breaks import RESUME_PREFIX
from repro_runner.logs.tt_xla.lines import LOCATION

OWN = "own"
"""The graph was not split off from another: Dynamo started a new frame for it."""
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
"""How many characters are kept of a line that shows a cause."""
FIRST = "vhlo"
MARKERS_READ = 5_000
"""How many location markers are read of a graph. They are enough to find its source lines."""
_PIECE = 256 * 1024
_PLACES_KEPT = 5
_ERRORS_KEPT = 5
Place = tuple[str, int, str]
"""File, line, function. The function is empty if the marker has none."""


@dataclass(slots=True)
class Since:
    """What the log shows between the starts of two graphs."""

    frames: int = 0
    resumed: int = 0
    handed: int = 0
    left_to_python: int = 0
    xla: str = ""
    """torch_xla's first text for why it compiled."""
    export: str = ""

    def look_at(self, text: bytes) -> None:
        """Read lines outside of MLIR modules."""
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
    """Why torch_xla split the graph; empty if it did not. A graph that Dynamo passed to it is not a split."""
    for cause in _XLA_CAUSE.finditer(text):
        if b"dynamo" not in cause[1]:
            return cause[1].decode("utf-8", "replace").strip()[:_LONGEST]
    return _find_line(text, _XLA_SIGNS)


def _find_line(text: bytes, signs: Iterable[bytes]) -> str:
    """The first line with one of the signs, from the sign on; empty if there is none."""
    for sign in signs:
        at = text.find(sign)
        if at >= 0:
            return text[at : at + _LONGEST].split(b"\n")[0].decode("utf-8", "replace").strip()
    return ""


def find_splitter(since: Since, *, resumed: bool, first: bool, with_dynamo: bool) -> str:
    """What split the graph: Dynamo, torch_xla or export; OWN if nothing did, NOT_TOLD if the log does not show it."""
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
    # With +dynamo every frame is in the log. A graph without a frame is part of a graph that torch_xla split.
    return "torch_xla" if with_dynamo and not since.handed else NOT_TOLD


@dataclass(slots=True, kw_only=True)
class Graph:
    """One graph, and what the log shows of it."""

    line: int
    thread: str
    since: Since
    """What happened since the graph before it."""
    stages: list[str] = field(default_factory=list)
    ended: bool = True
    """Whether the text of its last stage is complete."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """(line of the log, text) of the first errors."""
    resumed: bool = False
    """Whether it contains code that Dynamo runs after a break."""
    places: Counter[Place] = field(default_factory=Counter)
    placed_by: int = 0
    """The number of the stage that was last searched for places."""

    @property
    def began_here(self) -> bool:
        """Whether the log contains its vhlo header. A log whose start was cut off may not."""
        return self.stages[0] == FIRST

    def add_error(self, line: int, text: str) -> None:
        if len(self.errors) < _ERRORS_KEPT:
            self.errors.append((line, text))

    def top_places(self) -> list[tuple[Place, int]]:
        return sorted(self.places.items(), key=lambda place: (-place[1], place[0]))[:_PLACES_KEPT]


class GraphFollower:
    """Collects graphs by thread, because several graphs can be compiled at the same time."""

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
        """Note a stage header. Returns whether a new graph starts with it."""
        before = self._of_thread.get(thread)
        is_new = before is None or stage == FIRST
        if is_new:
            before = self._of_thread[thread] = Graph(line=line, thread=thread, since=since)
            self.all.append(before)
        assert before is not None
        before.places = Counter(dict(before.top_places()))  # saves memory in a long log
        before.stages.append(stage)
        before.ended = False
        self._open.pop(thread, None)
        self._open[thread] = before
        return is_new

    def end_stage(self) -> None:
        """Note an end marker. It does not name a thread, so the module that started first is taken to have ended."""
        self.markers += 1
        if self._open:
            self._open.pop(next(iter(self._open))).ended = True

    def of_thread(self, thread: str) -> Graph | None:
        return self._of_thread.get(thread)

    def read_module(self, text: bytes) -> None:
        """Read the places in a module. All stages have them, so only stages up to the first with places are read."""
        graph = next(reversed(self._open.values()))
        if graph.places and len(graph.stages) > graph.placed_by:
            return
        graph.placed_by = len(graph.stages)
        graph.resumed = graph.resumed or _RESUMED in text
        start = text.find(b'loc("')  # the markers stand together, before or after the operations
        while 0 <= start < len(text) and sum(graph.places.values()) < MARKERS_READ:
            end = text.find(b"\n", start + _PIECE) + 1 or len(text)
            graph.places.update(_find_places(text, start, end))
            start = end


def _find_places(text: bytes, start: int, end: int) -> dict[Place, int]:
    """The places in a piece of the text, each with its number of operations."""
    found: Counter[Place] = Counter()
    for marker, count in Counter(LOCATION.findall(text, start, end)).items():
        file, first, function, line, other_file, other_line = marker
        name = (file or other_file).decode("utf-8", "replace")
        found[name, int(line or first or other_line), function.decode("utf-8", "replace")] += count
    return found
