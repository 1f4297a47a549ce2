"""The report in a real Chromium, opened from disk as a reader opens it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from repro_runner.report import read_contents
from repro_runner.report.page import render_report, render_reports
from tests.repro_runner.fixtures.sample_run import HOSTILE, as_it_is, write_sample_run

pytestmark = pytest.mark.browser

OPEN = "document.querySelectorAll('details').forEach(details => { details.open = true })"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of ordinary and one of hostile text, each alone in a folder; and one over several runs of both."""
    texts: dict[str, Callable[[str], str]] = {"ordinary": as_it_is, "hostile": lambda text: HOSTILE + text}
    made = {}
    for name, text in texts.items():
        home = tmp_path_factory.mktemp(name)
        made[name] = home / "report.html"
        made[name].write_text(render_report(read_contents(write_sample_run(home / "runs", text))), "utf-8")
    home = tmp_path_factory.mktemp("several")
    runs = [read_contents(write_sample_run(home / "runs", text)) for text in (*texts.values(), as_it_is, as_it_is)]
    document = runs[-1].run.read_json("numerics.json")  # so that two runs of a model are shown, each with its pictures
    runs[-1].run.write_json("numerics.json", {**document, "verdict": "differs otherwise"})
    runs[-1] = read_contents(runs[-1].run)
    made["several"] = home / "report.html"
    made["several"].write_text(render_reports(runs, {"/runs/lost": "not JSON; run it again"}, home), "utf-8")
    return made


@contextmanager
def opened(
    browser: Browser, report: Path, *, width: int = 1280, scheme: str = "light"
) -> Iterator[tuple[Page, list[str]]]:
    """A tab on the report, and everything that it should not have done."""
    with browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    ) as context:
        faults: list[str] = []
        tab = context.new_page()
        address = report.as_uri()
        tab.on("request", lambda one: faults.append(one.url) if not one.url.startswith((address, "data:")) else None)
        tab.on("console", lambda message: faults.append(message.text))
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("dialog", lambda dialog: faults.append(dialog.message))
        tab.goto(address)
        tab.evaluate(OPEN)
        tab.wait_for_load_state("networkidle")
        yield tab, faults


@pytest.mark.parametrize("text", ["ordinary", "hostile", "several"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_asks_nobody_and_keeps_everybody_in(
    browser: Browser, reports: dict[str, Path], width: int, scheme: str, text: str
) -> None:
    with opened(browser, reports[text], width=width, scheme=scheme) as (tab, faults):
        assert faults == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", colour))) / 3
        assert (brightness > 128) == (scheme == "light")
        if (width, scheme) in ((1280, "light"), (360, "dark")):
            found = Axe().run(tab).response
            assert len(found["passes"]) > 20
            assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]] == []


def test_hostile_text_is_shown_and_does_nothing(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"]) as (tab, faults):
        assert faults == []
        assert tab.title().startswith("</script></style></pre></title><script>")
        assert tab.locator("script, iframe, object, link[rel=stylesheet]").count() == 0
        assert "<script>document.title='owned'</script>" in tab.locator("h1").inner_text()
        assert tab.locator("section").count() == 10


def test_pictures_and_drawings_are_inside(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["ordinary"]) as (tab, _):
        widths = tab.eval_on_selector_all("img", "images => images.map(image => image.naturalWidth)")
        assert widths == [1, 1, 900, 900, 900]


def test_a_drawing_s_style_stays_in_the_drawing(browser: Browser, reports: dict[str, Path]) -> None:
    """The sample's drawing paints every `rect` red; the bars of the benchmark are some."""
    with opened(browser, reports["ordinary"]) as (tab, _):
        fill = tab.eval_on_selector(".bar rect", "bar => getComputedStyle(bar).fill")
        assert fill == "rgb(178, 58, 22)"


def test_a_verdict_leads_to_its_part(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["ordinary"], width=360) as (tab, _):
        tab.click(".verdicts a[href='#guards']")
        top = tab.eval_on_selector("#guards", "part => part.getBoundingClientRect().top")
        assert -1 <= top <= 1


def test_everything_can_be_read_without_script(browser: Browser, reports: dict[str, Path]) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(reports["ordinary"].as_uri())
        summary = tab.locator("#graphs details.graph > summary")
        summary.click()
        assert tab.locator("#graphs details.graph h3").first.is_visible()


def test_it_prints_in_black_on_white_whatever_the_screen_has(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["ordinary"], scheme="dark") as (tab, _):
        tab.emulate_media(media="print", color_scheme="dark")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert tab.eval_on_selector(".drawing", "drawing => getComputedStyle(drawing).maxHeight") == "none"
        assert tab.pdf().startswith(b"%PDF")
