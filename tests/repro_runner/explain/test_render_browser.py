"""The page of a report in a real Chromium, opened from disk as a reader opens it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from repro_runner.explain.render.formats import render_page
from repro_runner.explain.render.view import view_report
from tests.repro_runner.fixtures.written_report import FOLDER, HOSTILE, sample_answers, sample_report
from tests.repro_runner.report.test_report_browser import opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    texts: dict[str, Callable[[str], str]] = {"ordinary": str, "hostile": lambda text: HOSTILE + text}
    made = {}
    for name, text in texts.items():
        made[name] = tmp_path_factory.mktemp(name) / "breaks.html"
        view = view_report(sample_report(text), sample_answers(), folder=Path(FOLDER))
        made[name].write_text(render_page(view), "utf-8")
    return made


@pytest.mark.parametrize("text", ["ordinary", "hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_the_page_fits_asks_nobody_and_keeps_nobody_out(
    browser: Browser, pages: dict[str, Path], width: int, scheme: str, text: str
) -> None:
    with opened(browser, pages[text], width=width, scheme=scheme) as (tab, faults):
        assert faults == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(tab).response
        assert len(found["passes"]) > 20
        assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]] == []


def test_the_look_follows_the_readers_scheme(browser: Browser, pages: dict[str, Path]) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with opened(browser, pages["ordinary"], scheme=scheme) as (tab, _):
            colours.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(253, 252, 250)", "rgb(23, 21, 19)"]
