"""What stands around a message in a log and belongs to it: the user's frames, the rank, the frame that was given up."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from registry.message_layout import COLOUR, PREFIX, read_line
from repro_runner.capture.breaks import plain_name

_FRAME = re.compile(r'File "([^"\n]+)", line ([0-9]{1,9}), in ([^\s,]+)(?:, code: (.*))?')
_GIVEN_UP = re.compile(r"WON'T CONVERT (\S+) (.+?) line ([0-9]{1,9})")
_RANK = re.compile(r"\[(?:rank|default)([0-9]{1,9})\]")
_RECORDS = 4096
_FRAMES = 20_000
_TRACEBACKS = 256

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(OrderedDict[Key, Value], Generic[Key, Value]):
    """Forgets the oldest: a log has no end, memory has."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: Key, value: Value) -> None:
        self[key] = value
        if len(self) > self._most:
            self.popitem(last=False)


class Surroundings:
    """Looks at each line that a reader sees; asked about a message, it tells what it saw of it."""

    def __init__(self) -> None:
        self._chained_at: deque[int] = deque(maxlen=_TRACEBACKS)
        """Lines at which a traceback goes over into one that it caused."""
        self._tracebacks: deque[int] = deque(maxlen=_TRACEBACKS)
        self._frames: Recent[tuple[str, int], tuple[str, str]] = Recent(_FRAMES)
        self._ranks: Recent[str, str] = Recent(_RECORDS)
        self._given_up: Recent[str, tuple[str, int, str]] = Recent(_RECORDS)
        self._frame: tuple[str, int] | None = None
        """A frame whose source the next line of its record has."""
        self._frame_record = ""

    def look_at(self, line: str, number: int) -> None:
        """Keep what the line tells."""
        if "\x1b" in line:
            line = COLOUR.sub("", line)
        if self._frame:
            self._read_source(self._frame, *read_line(line))
        if 'File "' in line and (frame := _FRAME.search(line)):
            place = frame[1], int(frame[2])
            if not self.frame(*place)[1]:
                self._frames.keep(place, (plain_name(frame[3]), (frame[4] or "").strip()))
                self._frame = None if frame[4] else place
                self._frame_record = read_line(line)[0]
        if "WON'T CONVERT" in line and (given_up := _GIVEN_UP.search(line)):
            self._given_up.keep(read_line(line)[0], (given_up[2], int(given_up[3]), given_up[1]))
        if "above exception" in line:
            self._chained_at.append(number)
        if "Traceback (most" in line:
            self._tracebacks.append(number)
        if "[" in line[:64] and (prefix := PREFIX.match(line)) and (rank := _RANK.search(prefix[0])):
            self._ranks.keep(read_line(line)[0], rank[1])

    def _read_source(self, place: tuple[str, int], record: str, body: str) -> None:
        if record != self._frame_record:
            return
        self._frame = None
        source = body.strip()
        if source and body[0].isspace() and not source.startswith('File "') and place in self._frames:
            self._frames.keep(place, (self._frames[place][0], source))

    def are_chained(self, first: int, second: int) -> bool:
        """Whether the exception at the second line was printed as caused by the one at the first."""
        link = max((number for number in self._chained_at if first < number < second), default=0)
        return bool(link) and sum(link < number < second for number in self._tracebacks) <= 1

    def frame(self, file: str, line: int) -> tuple[str, str]:
        """(function, source) of a line of the user's code; empty where the log does not show it."""
        return self._frames.get((file, line), ("", ""))

    def rank(self, record: str) -> str:
        """Of the process that wrote a record; empty where nothing tells."""
        found = _RANK.search(record)
        return found[1] if found else self._ranks.get(record, "")

    def given_up(self, record: str) -> tuple[str, int, str]:
        """(file, line, function) of the frame that this record says Dynamo leaves to Python."""
        return self._given_up.get(record, ("", 0, ""))
