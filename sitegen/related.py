"""Which other breaks a reader of one may want."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from registry.model import GraphBreak, Registry

MOST = 6


@dataclass(frozen=True, slots=True)
class Related:
    """Another break, and what it has to do with this one."""

    gb: GraphBreak
    why: str


class Relations:
    """Looks neighbours up; built once for all pages."""

    def __init__(self, registry: Registry) -> None:
        self._breaks = {gb.gb_id: gb for gb in registry}
        self._raised_with: dict[str, dict[str, None]] = {}
        self._raised_by: dict[str, dict[str, None]] = defaultdict(dict)
        self._functions: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._files: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for gb in registry:
            others = {gb_id: None for seen in gb.fresh_evidence for gb_id in seen.ids if gb_id != gb.gb_id}
            self._raised_with[gb.gb_id] = others
            for other in others:
                self._raised_by[other][gb.gb_id] = None
            for file, function in _places(gb):
                self._functions[file, function][gb.gb_id] = None
                self._files[file, gb.category][gb.gb_id] = None

    def of(self, gb: GraphBreak) -> list[Related]:
        """The nearest first: raised together, emitted by the same function, same kind in the same file."""
        found: dict[str, str] = {}
        for gb_id, why in self._candidates(gb):
            if gb_id != gb.gb_id and gb_id in self._breaks:
                found.setdefault(gb_id, why)
            if len(found) == MOST:  # a kind may have thousands: nobody looks at all of them for each
                break
        return [Related(self._breaks[gb_id], why) for gb_id, why in found.items()]

    def _candidates(self, gb: GraphBreak) -> Iterator[tuple[str, str]]:
        yield from ((gb_id, "this program gives it, too") for gb_id in self._raised_with[gb.gb_id])
        yield from ((gb_id, "its program gives this, too") for gb_id in self._raised_by[gb.gb_id])
        for place in _places(gb):
            yield from ((gb_id, "same function in torch") for gb_id in self._functions[place])
        for file, _ in _places(gb):
            yield from ((gb_id, "same kind, same file") for gb_id in self._files[file, gb.category])


def _places(gb: GraphBreak) -> list[tuple[str, str]]:
    """Where the newest release that emits it does so."""
    last = next((seen for seen in reversed(gb.history.releases) if seen.live), None)
    return [(site.file, site.function) for site in last.call_sites] if last else []
