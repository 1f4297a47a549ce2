"""A number and the list behind it: both come from the same facets, so a link never shows more or fewer than it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from registry.model import GraphBreak
from sitegen.facets import Facets, facets_of, list_link


@dataclass(frozen=True, slots=True)
class Count:
    """How many ids, and the address of their list from the root of the site."""

    number: int
    link: str


class Lists:
    """The ids of the site with their facets, made once for the many numbers of a page."""

    def __init__(self, breaks: Iterable[GraphBreak]) -> None:
        self._breaks = tuple(breaks)
        self._facets: dict[str, tuple[Facets, ...]] = {}

    def count(self, torch: str = "", **wanted: str) -> Count:
        """Count the ids that have all these facets; a comma in a value means `or`, `any` that there is a value.

        `torch` is the release whose status is meant; a count of a status names it.
        """
        if torch not in self._facets:
            self._facets[torch] = tuple(facets_of(gb, torch) for gb in self._breaks)
        choices = {facet: frozenset(value.split(",")) for facet, value in wanted.items()}
        number = sum(_has_all(facets, choices) for facets in self._facets[torch])
        release = {"torch": torch} if torch else {}
        return Count(number, list_link(**release, **wanted) if wanted else "index.html")


def _has_all(facets: Facets, choices: dict[str, frozenset[str]]) -> bool:
    return all(
        facet in facets if values == {"any"} else values & set(facets.get(facet, ()))
        for facet, values in choices.items()
    )
