"""Where to draw the boxes of a graph: in rows from top to bottom, each box below what it reads.

An edge that passes other rows has a lane of its own between their boxes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BOXES_PER_ROW = 10
LONGEST_EDGE = 12
"""In rows. A longer edge is not drawn: it would be lost among the others. Its ends name each other instead."""
_SWEEPS = 4

Reads = Mapping[str, Sequence[str]]
"""Box -> the boxes that it reads. Each box comes after those that it reads."""
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The row and the middle of each box; what each drawn edge passes between its ends; the edges left undrawn."""

    rows: Mapping[str, int]
    middles: Mapping[str, float]
    lanes: Mapping[Edge, tuple[float, ...]]
    """The middle of the lane in each row between the ends of an edge."""
    undrawn: tuple[Edge, ...]


@dataclass(slots=True)
class _Arrangement:
    """Boxes and lanes, both by name: the order of each row, and what each touches in the rows next to it."""

    order: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    above: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def place_boxes(reads: Reads, *, box_width: float, lane_width: float) -> Layout:
    """Place boxes so that few edges cross, and each box is near those that it reads and those that read it."""
    rows = _assign_rows(reads)
    edges = [(source, box) for box, sources in reads.items() for source in dict.fromkeys(sources)]
    drawn = [(source, box) for source, box in edges if rows[box] - rows[source] <= LONGEST_EDGE]
    arranged = _Arrangement()
    for box, row in rows.items():
        arranged.order[row].append(box)
    lanes = {edge: _add_lanes(arranged, rows, edge) for edge in drawn}
    _uncross(arranged)
    middles = _find_middles(arranged, dict.fromkeys(reads, box_width), lane_width)
    return Layout(
        rows=rows,
        middles={box: middles[box] for box in reads},
        lanes={edge: tuple(middles[lane] for lane in passed) for edge, passed in lanes.items()},
        undrawn=tuple(edge for edge in edges if edge not in lanes),
    )


def _assign_rows(reads: Reads) -> dict[str, int]:
    """Put each box as high as it can be, then as near to its first reader as it can be. A tag (it reads one box, and
    nothing reads it) goes below that box, and does not fix its row. A row that is too wide is split."""
    rows: dict[str, int] = {}
    read = {source for sources in reads.values() for source in sources}
    tags = {box for box, sources in reads.items() if len(sources) == 1 and box not in read}
    readers: dict[str, list[str]] = defaultdict(list)
    for box, sources in reads.items():
        rows[box] = 1 + max((rows[source] for source in sources), default=-1)
        for source in sources if box not in tags else ():
            readers[source].append(box)
    for box in reversed(rows):
        if readers[box]:
            rows[box] = min(rows[reader] for reader in readers[box]) - 1
    for tag in tags:
        rows[tag] = 1 + rows[reads[tag][0]]
    return _split_wide_rows(rows)


def _split_wide_rows(rows: Mapping[str, int]) -> dict[str, int]:
    members: dict[int, list[str]] = defaultdict(list)
    for box, row in rows.items():
        members[row].append(box)
    split = [
        boxes[start : start + BOXES_PER_ROW]
        for _, boxes in sorted(members.items())
        for start in range(0, len(boxes), BOXES_PER_ROW)
    ]
    return {box: row for row, boxes in enumerate(split) for box in boxes}


def _add_lanes(arranged: _Arrangement, rows: Mapping[str, int], edge: Edge) -> list[str]:
    """A lane in each row between the ends of an edge. No box has a space in its name, so none is called like a lane."""
    source, box = edge
    lanes = [f"{source} {box} {row}" for row in range(rows[source] + 1, rows[box])]
    for row, lane in enumerate(lanes, rows[source] + 1):
        arranged.order[row].append(lane)
    for upper, lower in zip([source, *lanes], [*lanes, box], strict=True):
        arranged.above[lower].append(upper)
        arranged.below[upper].append(lower)
    return lanes


def _uncross(arranged: _Arrangement) -> None:
    """Order each row by where its neighbours are in the row before; downwards and upwards in turn."""
    for neighbours, rows in _sweeps(arranged):
        place: dict[str, float] = {}
        for row in rows:
            items = arranged.order[row]
            own = _places(items)
            wanted = {item: _mean([place[each] for each in neighbours[item]], own[item]) for item in items}
            items.sort(key=wanted.__getitem__)
            place |= _places(items)


def _find_middles(arranged: _Arrangement, widths: Mapping[str, float], lane_width: float) -> dict[str, float]:
    middles = {item: 0.0 for items in arranged.order.values() for item in items}
    for neighbours, rows in _sweeps(arranged):
        for row in rows:
            items = arranged.order[row]
            wanted = [_mean([middles[each] for each in neighbours[item]], middles[item]) for item in items]
            middles |= zip(items, _spread_out(wanted, [widths.get(item, lane_width) for item in items]), strict=True)
    return middles


def _spread_out(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Positions near the wanted ones, in order, without overlap: halfway between pushing all right and all left."""
    right = list(wanted)
    for index in range(1, len(right)):
        right[index] = max(right[index], right[index - 1] + (widths[index - 1] + widths[index]) / 2)
    left = list(wanted)
    for index in range(len(left) - 2, -1, -1):
        left[index] = min(left[index], left[index + 1] - (widths[index] + widths[index + 1]) / 2)
    return [(one + other) / 2 for one, other in zip(right, left, strict=True)]


def _sweeps(arranged: _Arrangement) -> list[tuple[dict[str, list[str]], list[int]]]:
    downwards = sorted(arranged.order)
    return [(arranged.above, downwards), (arranged.below, downwards[::-1])] * (_SWEEPS // 2)


def _places(items: Sequence[str]) -> dict[str, float]:
    """Each item's place in its row, from 0 to 1."""
    return {item: (index + 0.5) / len(items) for index, item in enumerate(items)}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
