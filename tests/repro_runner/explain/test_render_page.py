"""A report as a page and in a notebook: everything is there, everything is escaped, nothing is fetched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import html5lib
import pytest
from bs4 import BeautifulSoup, Tag

from registry.stylesheet import read_stylesheet
from repro_runner.explain.render.formats import render_notebook, render_page
from repro_runner.explain.render.view import Outcome, ReportView, view_outcome, view_report
from repro_runner.explain.report import Report
from tests.repro_runner.fixtures.written_report import (
    FOLDER,
    HOSTILE,
    SUGGESTIONS,
    failed_report,
    sample_answers,
    sample_report,
)


def view(report: Report) -> ReportView:
    return view_report(report, sample_answers(), folder=Path(FOLDER))


def hostile(text: str) -> str:
    return HOSTILE + text


@pytest.fixture(scope="module")
def page() -> BeautifulSoup:
    return BeautifulSoup(render_page(view(sample_report())), "html.parser")


def text_of(soup: Tag, selector: str) -> str:
    found = soup.select_one(selector)
    assert found is not None, selector
    return " ".join(found.get_text(" ").split())


def test_a_page_shows_every_site_its_chain_its_counts_and_its_fix(page: BeautifulSoup) -> None:
    assert len(page.select("section.site")) == 5
    loop, item = text_of(page, "#site-1"), text_of(page, "#site-2")
    assert "cause GB0025 → surfaced as GB7000" in loop
    assert "compiled 2×, ran: not counted, because a break in a loop leaves no function to count" in loop
    assert "If you can't change it It must stay: keep it out of the rest." in loop
    assert "compiled 2×, ran 480×; 125 ms of compilation lost" in item
    assert "recompiled 2×: tensor 'x' size mismatch" in item
    assert "held on torch 2.13.0" in item
    assert "stopped breaking in torch 2.15.0" in item
    assert [line.get_text() for line in page.select("#site-2 .fix:first-of-type .line")] == [
        "  def f(x):\n",
        "-     peak = x.abs().max().item()\n",
        "+     peak = x.abs().max()\n",
        "      return x / peak\n",
    ]


def test_the_table_at_the_top_leads_to_each_site(page: BeautifulSoup) -> None:
    links = [str(link["href"]) for link in page.select("tbody a")]
    assert links == [f"#site-{number}" for number in range(1, 6)]
    assert all(page.select_one(link) for link in links)
    rows = [[cell.get_text() for cell in row.select(".number")] for row in page.select("tbody tr")]
    assert rows[:3] == [["2", "?", "500 ms"], ["2", "480", "125 ms"], ["1", "5", "–"]]


def test_a_summary_is_the_categories_alone() -> None:
    soup = BeautifulSoup(render_page(view(sample_report()), summary=True), "html.parser")
    assert soup.select("section.site") == []
    assert [one.get_text() for one in soup.select("summary")] == [
        "3 of 5 breaks are about data-dependent control flow",
        "1 of 5 breaks is about C code and controls",
        "1 of 5 breaks is not yet categorised",
    ]
    assert "Keep it in the graph: torch.where ." in text_of(soup, "details")


def test_how_a_program_failed_stands_above_its_breaks() -> None:
    soup = BeautifulSoup(render_page(view(failed_report())), "html.parser")
    assert text_of(soup, ".failed").startswith("train.py ended with Unsupported: Data-dependent branching")


def test_a_page_has_the_registrys_look_and_is_valid_whatever_is_in_it() -> None:
    text = render_page(view(sample_report(hostile)))
    assert read_stylesheet() in text
    html5lib.HTMLParser(strict=True).parse(text)


@pytest.mark.parametrize("render", [render_page, render_notebook])
def test_text_of_a_program_becomes_no_markup(render: object) -> None:
    soup = BeautifulSoup(render(view(sample_report(hostile))), "html5lib")  # type: ignore[operator]
    assert soup.select("script, img, iframe, link") == []
    assert "<script>document.title='owned'</script>" in soup.get_text()
    assert r"\x1b[31mred" in soup.get_text()


def test_a_models_suggestion_stands_beside_its_verdict() -> None:
    found = Outcome(report=sample_report(hostile), suggestions=())
    asked = Outcome(
        report=sample_report(),
        suggestions=tuple(
            replace(one, cause=HOSTILE + one.cause, patch=HOSTILE + one.patch) for one in SUGGESTIONS[:1]
        ),
    )
    assert "A model's suggestion" not in render_page(view_outcome(found, sample_answers(), folder=Path(FOLDER)))
    text = render_page(view_outcome(asked, sample_answers(), folder=Path(FOLDER)))
    html5lib.HTMLParser(strict=True).parse(text)
    soup = BeautifulSoup(text, "html.parser")
    assert soup.select("script, img") == []
    assert "holds, by running it: 5 break sites before, 4 after, results equal" in text_of(soup, "#site-3")
    assert [line.get_text() for line in soup.select("#site-3 .new-line")][-1] == "+    return x\n"


def test_the_same_report_gives_the_same_bytes() -> None:
    assert render_page(view(sample_report())) == render_page(view(sample_report()))


def test_a_notebook_shows_a_row_per_site_and_the_first_way_out() -> None:
    soup = BeautifulSoup(render_notebook(view(sample_report())), "html.parser")
    rows = soup.select("tbody tr")
    assert len(rows) == 5
    assert text_of(rows[1], "summary") == "The number goes back into tensor arithmetic."
    assert "ran 480×" in rows[1].get_text()
    assert "2 recompiles" in text_of(soup, "p")
