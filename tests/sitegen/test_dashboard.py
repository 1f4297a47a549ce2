from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup, Tag

from registry.coverage import count_coverage
from registry.merge import merge_registry
from registry.model import Environment, Evidence, Note, Repro
from sitegen.by_release import choices
from sitegen.dashboard import dashboard_context
from sitegen.overview import render_overview
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import knowledge, release, revision, site
from tests.sitegen.linked_numbers import bare_numbers, linked_numbers, wrong_numbers
from tests.sitegen.overview_pages import KINDS, real_pages
from tests.sitegen.test_render import a_registry

pytestmark = pytest.mark.slow

# The charts, by how their labels start.
IDS = "Ids registered and emitted"
CHANGES = "Ids new, reworded and no longer emitted"
FUNNEL = "From registered to verified"
BY_KIND = "Ids by kind"


@pytest.fixture(scope="module")
def dashboard() -> BeautifulSoup:
    return BeautifulSoup(real_pages()["dashboard.md"], "html.parser")


def test_every_number_is_that_of_the_list_it_links_to() -> None:
    page = real_pages()["dashboard.md"]
    assert len(list(linked_numbers(page))) > 200
    assert wrong_numbers(committed_registry(), page) == []


def test_every_number_in_a_table_has_a_list() -> None:
    assert bare_numbers(real_pages()["dashboard.md"]) == []


def test_every_release_is_counted_as_graphbreak_status_counts_it() -> None:
    registry = committed_registry()
    rows = dashboard_context(registry)["coverage"]
    assert [row["torch"] for row in rows] == list(choices(registry))
    for row in rows:
        counted = count_coverage(registry.breaks, row["torch"])
        steps = [counted.registered, counted.live, counted.reproduced, counted.verified]
        assert [count.number for count in row["steps"].values()] == steps
        assert {status: count.number for status, count in row["by_status"].items()} == {
            "verified": counted.verified,
            "reproduced": counted.reproduced - counted.verified,
            "elsewhere": counted.elsewhere,
            "not-run": counted.not_run,
            "unreached": counted.unreached,
            "open": counted.unexplained,
        }


def test_a_kinds_statuses_add_up_to_its_ids_in_every_release() -> None:
    kinds = dashboard_context(committed_registry())["kinds"]
    assert list(kinds) == list(choices(committed_registry()))
    for rows in kinds.values():
        assert sum(row["total"].number for row in rows) == len(committed_registry())
        for row in rows:
            assert sum(count.number for count in row["by_status"].values()) == row["total"].number


@pytest.mark.parametrize("key", KINDS)
def test_old_links_to_a_kind_on_the_dashboard_still_arrive(key: str, dashboard: BeautifulSoup) -> None:
    (row,) = dashboard.select(f'[id="{key}"]')
    assert row.name == "tr"
    assert row.select_one("a")["href"] == f"categories/{key}.html"  # type: ignore[index]


def test_charts_show_the_numbers_of_the_tables(dashboard: BeautifulSoup) -> None:
    by_release = dashboard.select("h2#releases ~ table")[0]
    newest = [numbers_under(heading, by_release)[0] for heading in ("Registered", "Emitted")]
    assert chart_numbers(chart(dashboard, IDS, ".charts")) == newest
    assert chart(dashboard, CHANGES, ".charts")
    coverage = dashboard.select("h2#coverage ~ table")[0]
    emitted, verified = (numbers_under(heading, coverage) for heading in ("Emitted", "Verified fix"))
    funnels = dashboard.select(f'svg[aria-label^="{FUNNEL}"]')
    assert [chart_numbers(one)[1::2] for one in funnels] == [list(pair) for pair in zip(emitted, verified, strict=True)]
    kinds = dashboard.select("#kinds")[0]
    assert chart_numbers(chart(dashboard, BY_KIND, ".chart.wide")) == numbers_under("Ids", kinds)


def chart(page: Tag, label: str, inside: str = "") -> Tag:
    """The one chart whose label starts so."""
    (found,) = page.select(f'{inside} svg[aria-label^="{label}"]')
    return found


def chart_numbers(chart: Tag) -> list[int]:
    return [int(text.get_text()) for text in chart.find_all("text") if text.get("font-weight")]


def numbers_under(heading: str, table: Tag) -> list[int]:
    """The column of a table that has this heading."""
    place = [head.get_text() for head in table.select("thead th")].index(heading)
    return [int(row.select("th, td")[place].get_text()) for row in table.select("tbody tr")]


def test_a_fold_lists_as_many_as_it_says(dashboard: BeautifulSoup) -> None:
    said = {}
    for fold in dashboard.find_all("details"):
        name = fold.select("summary")[0].get_text()
        if number := re.search(r"\((\d+)\)", name):
            said[name] = (int(number[1]), len(fold.find_all("li")))
    assert said
    assert {name: pair for name, pair in said.items() if pair[0] != pair[1]} == {}


def test_a_gap_is_what_is_empty_not_what_is_absent() -> None:
    gaps = {label: count.number for label, count in dashboard_context(a_registry())["gaps"]}
    assert gaps == {"With any gap": 1, "No context": 1, "No explanation": 1, "No hints": 1}


def test_the_large_numbers_are_those_of_the_registry() -> None:
    tiles = {label: count.number for label, count in dashboard_context(a_registry())["tiles"]}
    assert tiles == {
        "ids": 4,
        "emitted by torch 2.9.0": 2,
        "retired: registered, but no longer emitted": 1,
        "dropped: removed from the registry": 1,
        "with a note from a person": 1,
        "seen in small models with random weights": 1,
    }


def test_a_change_of_title_is_shown_with_the_newest_release() -> None:
    changes = {row["name"]: row["breaks"] for row in dashboard_context(a_registry())["changes"]}
    assert [(gb.gb_id, earlier) for gb, earlier in changes["Reworded"]] == [("GB0001", "old type")]
    assert [gb.gb_id for gb, _ in changes["New"]] == ["GB0002"]
    assert [gb.gb_id for gb, _ in changes["No longer emitted"]] == ["GB0003"]


@pytest.mark.parametrize("releases", [0, 1, 2])
def test_a_young_registry_has_its_pages_too(releases: int) -> None:
    wordings = {"GB0001": [revision("t")]}
    known = [release(torch, wordings) for torch in ("2.8.0", "2.9.0")[:releases]]
    registry = merge_registry(knowledge(wordings, releases=known))
    pages = render_overview(registry, {}, template_environment(ROOT / "templates"))
    labels = [str(svg["aria-label"]) for svg in BeautifulSoup(pages["dashboard.md"], "html.parser").select("svg")]
    drawn = [known for known in (BY_KIND, IDS, CHANGES, FUNNEL) for label in labels if label.startswith(known)]
    assert drawn == [[BY_KIND], [BY_KIND, IDS, FUNNEL], [BY_KIND, IDS, CHANGES, FUNNEL]][releases]
    assert ("releases.md" in pages) == bool(releases)


def test_evidence_of_an_older_program_counts_for_nothing() -> None:
    place = Environment(torch="2.9.0", python="3.11", device="cpu", date="2026-01-02")
    repro = Repro(name="GB0001", gb_id="GB0001", lead="L", source="", sha256="new", fixes={}, isolated=())
    stale = Evidence(environment=place, repro_sha256="old", verdicts={"eager": "reproduced"})
    known = knowledge(
        {"GB0001": [revision("t")]},
        releases=[release("2.9.0", {"GB0001": [revision("t")]}, [site("t", "GB0001")])],
        repros={"GB0001": repro},
        evidence={"GB0001": (stale,)},
    )
    context = dashboard_context(merge_registry(known, {"GB0001": Note(text="n", written_for="t")}))
    assert context["environments"] == []
    assert [count.number for count in context["coverage"][0]["steps"].values()] == [1, 1, 0, 0]
