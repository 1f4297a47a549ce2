"""Read the numbers of a page with the lists they link to, and find those lists as the home page would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs, urlsplit

from registry.model import Registry
from sitegen.by_release import choices
from sitegen.facets import Facets, facets_of
from tests.sitegen.overview_pages import html_of


def linked_numbers(page: str) -> Iterator[tuple[int, str]]:
    """Yield (number, the link it stands in) for every number that links to the home page; a bar's name ends with it."""
    for link in html_of(page).select("a[href*='index.html']:not([href*='learn/'])"):
        yield int(link.get_text().split()[-1]), str(link["href"]).removeprefix("../")


def bare_numbers(page: str) -> list[str]:
    """Cells of tables with a number that links nowhere; zero has no list."""
    cells = html_of(page).find_all("td")
    return [text for cell in cells if (text := cell.get_text()).isdigit() and text != "0" and not cell.find("a")]


def wrong_numbers(registry: Registry, page: str) -> list[tuple[int, str, int]]:
    """(number, link, how many ids the link really lists) for each number that is not that of its list."""
    facets = {torch: {gb.gb_id: facets_of(gb, torch) for gb in registry} for torch in ("", *choices(registry))}
    counted = [(number, link, len(listed(facets, link))) for number, link in linked_numbers(page)]
    return [one for one in counted if one[0] != one[2]]


def listed(in_releases: Mapping[str, Mapping[str, Facets]], link: str) -> set[str]:
    """The ids behind a link: every facet it names has one of the values it names, or any value.

    A link to a list by status names the release that is meant.
    """
    address = urlsplit(link)
    assert address.path == "index.html"
    wanted = parse_qs(address.query)
    [torch] = wanted.pop("torch", [""])
    assert torch or "status" not in wanted, link
    facets = in_releases[torch if "status" in wanted else ""]  # nothing else differs between releases
    found = set(facets)
    for facet, [value] in wanted.items():
        if value == "any":
            found = {gb_id for gb_id in found if facets[gb_id].get(facet)}
        else:
            found = {gb_id for gb_id in found if set(value.split(",")) & set(facets[gb_id].get(facet, ()))}
    return found
