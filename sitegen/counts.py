"""A number and the list behind it: both come from the same facets, so a link never shows more or fewer than it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from registry.model import GraphBreak
from sitegen.facets import facets_of, list_link


@dataclass(frozen=True, slots=True)
class Count:
    """How many ids, and the address of their list from the root of the site."""

    number: int
    link: str


class Lists:
    """The ids of the site with their facets, made once for the many numbers of a page."""

    def __init__(self, breaks: Iterable[GraphBreak]) -> None:
        self._breaks = tuple(breaks)
        self._ids = frozenset(gb.gb_id for gb in self._breaks)
        self._having: dict[tuple[str, str], set[str]] = defaultdict(set)
        """Facet and value, or `any` -> the ids that have it."""
        self._statuses: dict[str, dict[tuple[str, str], set[str]]] = {}
        for gb in self._breaks:
            for facet, values in facets_of(gb).items():
                for value in (*values, "any"):
                    self._having[facet, value].add(gb.gb_id)

    def count(self, torch: str = "", **wanted: str) -> Count:
        """Count the ids that have all these facets; a comma in a value means `or`, `any` that there is a value.

        `torch` is the release whose status is meant; a count of a status names it.
        """
        found = self._ids
        for facet, value in wanted.items():
            having = self._with_status(torch) if torch and facet == "status" else self._having
            found = found & set().union(*(having.get((facet, one), set()) for one in value.split(",")))
        release = {"torch": torch} if torch else {}
        return Count(len(found), list_link(**release, **wanted) if wanted else "index.html")

    def _with_status(self, torch: str) -> dict[tuple[str, str], set[str]]:
        """Of all facets, only this one depends on the release."""
        if torch not in self._statuses:
            having = self._statuses[torch] = defaultdict(set)
            for gb in self._breaks:
                for value in (gb.status_in(torch), "any"):
                    having["status", value].add(gb.gb_id)
        return self._statuses[torch]
