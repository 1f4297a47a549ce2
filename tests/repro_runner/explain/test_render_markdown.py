"""A report as Markdown, read back by a parser of GitHub's dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from repro_runner.explain.render.formats import render_markdown
from repro_runner.explain.render.view import Outcome, view_outcome, view_report
from tests.repro_runner.fixtures.markdown_page import page
from tests.repro_runner.fixtures.written_report import FOLDER, HOSTILE, SUGGESTIONS, sample_answers, sample_report
from tests.samples import HOSTILE as HOSTILE_SAMPLES


def rendered(text: Callable[[str], str] = str, *, summary: bool = False) -> str:
    view = view_report(sample_report(text), sample_answers(), folder=Path(FOLDER))
    return render_markdown(view, summary=summary)


@pytest.mark.parametrize(("name", "summary"), [("report.md", False), ("summary.md", True)])
def test_markdown_for_an_issue(name: str, summary: bool, matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot(f"explain/{name}", rendered(summary=summary))


def test_a_models_suggestion_comes_with_its_verdict_and_stays_in_its_fence() -> None:
    asked = tuple(replace(one, cause=HOSTILE + one.cause, patch=f"```\n# out\n{one.patch}") for one in SUGGESTIONS[:1])
    found = Outcome(report=sample_report(), suggestions=asked)
    soup = page(render_markdown(view_outcome(found, sample_answers(), folder=Path(FOLDER))))
    assert "(a-model, holds, by running it: 5 break sites before, 4 after, results equal; the" in soup.get_text()
    assert soup.select("h1, script, img") == []


@cache
def ordinary() -> list[str]:
    return skeleton(page(rendered()))


def skeleton(soup: BeautifulSoup) -> list[str]:
    """Every element that is more than running text."""
    return [tag.name for tag in soup.find_all(True) if tag.name not in ("code", "span", "p")]


@pytest.mark.parametrize("hostile", [HOSTILE, *HOSTILE_SAMPLES])
def test_text_of_a_program_adds_no_element_of_its_own(hostile: str) -> None:
    soup = page(rendered(lambda text: hostile + text))
    assert skeleton(soup) == ordinary()
    assert {str(link["href"]).partition("/gb/")[0] for link in soup.find_all("a")} == {
        "https://meta-pytorch.github.io/compile-graph-break-site"
    }
    assert all(not tag.attrs for tag in soup.find_all("span"))
