"""Which other breaks a reader of one may want: the same cause or fix before the same kind, live before retired."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from registry.model import GraphBreak, Registry
from registry.snippets import Programs

MOST = 6
_COMMON = 60
"""What more breaks than this have in common says nothing."""
_LEAST = 3
"""What has fewer points is noise: a short list is better."""
_GONE = 0.7
"""What a break that torch no longer emits is worth beside one that it does."""
_POINTS = {"title": 9, "lead": 4, "fix": 5, "place": 4}
"""What it is worth to share everything of a kind."""
_SAME_KIND = 2

Trait = tuple[str, str]
"""What breaks may share: (`title`, a word), (`lead`, a word), (`fix`, a name of torch's API), (`place`, a function)."""
Reason = tuple[float, str]
"""Points, and why in a few words."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another break, and what it has to do with this one."""

    gb: GraphBreak
    why: str


class Relations:
    """Looks neighbours up; built once for all pages."""

    def __init__(self, registry: Registry, programs: Programs) -> None:
        self._breaks = {gb.gb_id: gb for gb in registry}
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self._links = _linked_programs(self._breaks)
        self._having: dict[Trait, list[str]] = defaultdict(list)
        for gb in registry:
            self._kinds[gb.category].add(gb.gb_id)
            for trait in dict.fromkeys(_traits(gb, programs)):
                self._having[trait].append(gb.gb_id)
        self._rarity: dict[Trait, float] = {}  # 1 if nobody else has it, 0 if all have
        self._traits: dict[str, list[Trait]] = defaultdict(list)
        self._total: dict[tuple[str, str], float] = defaultdict(float)
        for trait, having in self._having.items():
            if len(having) <= _COMMON:
                self._rarity[trait] = 1 - log(len(having)) / log(max(len(self._breaks), 2))
                for gb_id in having:
                    self._traits[gb_id].append(trait)
                    self._total[gb_id, trait[0]] += self._rarity[trait]

    def of(self, gb: GraphBreak) -> list[Related]:
        """The nearest, and of these the live ones first."""
        found = []
        for gb_id in self._candidates(gb):
            having = set(self._traits[gb_id])
            shared = [trait for trait in self._traits[gb.gb_id] if trait in having]
            reasons = list(self._reasons(gb, self._breaks[gb_id], shared))
            gone = self._breaks[gb_id].lifecycle in ("retired", "dropped")
            points = sum(points for points, _ in reasons) * (_GONE if gone else 1)
            if points >= _LEAST:
                found.append((-points, gb_id, gone, max(reasons)[1]))
        nearest = sorted(sorted(found)[:MOST], key=lambda one: one[2])
        return [Related(self._breaks[gb_id], why) for _, gb_id, _, why in nearest]

    def _candidates(self, gb: GraphBreak) -> set[str]:
        """All that may have enough points, and more: reckoned in a hurry, since most have a common word and no more."""
        most: dict[str, float] = dict.fromkeys(self._links[gb.gb_id], _LEAST)
        same_kind = self._kinds[gb.category]
        for trait in self._traits[gb.gb_id]:
            total = self._total[gb.gb_id, trait[0]] if trait[0] in ("title", "lead") else 1
            points = _POINTS[trait[0]] * self._rarity[trait] / (total or 1)
            for gb_id in self._having[trait]:
                most[gb_id] = most.get(gb_id, 0) + points
        enough = _LEAST * 0.999  # what is reckoned in another order may differ in its last digits
        near = {gb_id for gb_id, points in most.items() if points + _SAME_KIND * (gb_id in same_kind) > enough}
        return near - {gb.gb_id}

    def _reasons(self, gb: GraphBreak, other: GraphBreak, shared: list[Trait]) -> Iterator[Reason]:
        points: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for trait in shared:
            points[trait[0]].append((self._rarity[trait], trait[1]))
        for what, why in (("title", "similar title"), ("lead", "similar code")):
            both = sum(rarity for rarity, _ in points[what])
            if both:
                either = self._total[gb.gb_id, what] + self._total[other.gb_id, what] - both
                yield _POINTS[what] * both / either, why
        if points["fix"]:
            rarity, name = max(points["fix"])
            yield _POINTS["fix"] * rarity, f"same fix: {name.removeprefix('torch._dynamo.config.')}"
        if points["place"]:
            yield _POINTS["place"] * max(points["place"])[0], "same place in torch"
        if gb.category == other.category:
            yield _SAME_KIND, "same kind"
        if link := self._links[gb.gb_id].get(other.gb_id):
            yield link


def _linked_programs(breaks: dict[str, GraphBreak]) -> dict[str, dict[str, Reason]]:
    """Ids that one program gives, and a contrived program's with the id that people meet instead."""
    given = {
        gb_id: {other: None for seen in gb.fresh_evidence for other in seen.ids if other in breaks and other != gb_id}
        for gb_id, gb in breaks.items()
    }
    often = Counter(other for others in given.values() for other in others)
    links: dict[str, dict[str, Reason]] = defaultdict(dict)
    for gb_id, others in given.items():
        for other in others:
            # What many programs give has little to do with each of them, nor a program's id with each of many.
            points = 7 / max(often[other], len(others))
            links[gb_id][other] = (points, "this program gives it, too")
            links[other].setdefault(gb_id, (points / 2, "its program gives this, too"))
    for gb_id, gb in breaks.items():
        if gb.repro and gb.repro.neighbour in breaks:
            links[gb_id][gb.repro.neighbour] = links[gb.repro.neighbour][gb_id] = (7, "same cause")
    return links


def _traits(gb: GraphBreak, programs: Programs) -> Iterator[Trait]:
    yield from (("title", word) for word in _words(gb.gb_type))
    yield from (("lead", word) for word in _words(gb.repro.lead if gb.repro else gb.newest.explanation))
    for one in gb.programs:
        program = programs[one.repro.name]
        before = _names(program.broken.script)
        for fix in program.fixes:  # what its caption does not name is not what fixes it
            named = re.findall(r"\w+", fix.when)
            added = sorted(_names(fix.script) - before)
            yield from (("fix", name) for name in added if name.rpartition(".")[2] in named)
    last = next((seen for seen in reversed(gb.history.releases) if seen.live), None)
    yield from (("place", f"{site.file}:{site.function}") for site in (last.call_sites if last else ()))


def _words(text: str) -> list[str]:
    """Without their endings: `tensors` is `tensor`, `calling` is `call`."""
    return [re.sub(r"(?<=\w{3})(?:ing|ed|s)$", "", word) for word in re.findall(r"[a-z]+|_\w+", text.lower())]


def _names(code: str) -> set[str]:
    """What code uses of torch."""
    return set(re.findall(r"\btorch(?:\.\w+)+", code))
