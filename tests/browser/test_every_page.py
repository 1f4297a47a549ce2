"""What holds for every page of the published site."""

from __future__ import annotations

import gzip
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Literal

import html5lib
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Visitor
from tests.browser.site_links import broken_links, read_links
from tests.scheduling import sampled
from tests.tools import BASE

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

KINDS = (
    *("", "dashboard.html", "releases.html", "categories.html", "categories/data-dependent-control-flow.html"),
    *("learn/index.html", "learn/graph-capture.html", "taxonomy.html", "troubleshooting.html"),
    *("about.html", "paste.html", "api.html", "cost.html", "fix-benchmark.html", "404.html"),
    *("tools.html", "tools/ui.html", "tools/device.html", "messages.html", "messages/recompiles.html"),
    *("gb/gb0170.html", "gb/gb0252.html", "gb/gb0053.html", "gb/gb0024.html", "gb/gb0375.html"),
)
"""A page of each type; of breaks one verified, one with much code, and those that lack a fix, reach or a program."""
LARGE = ("dashboard.html", "releases.html")
"""Thousands of cells, which axe looks at one by one. Of the others, `make test` takes each on one of two screens."""
NEEDED = ("assets/css/look.css", "assets/css/style.css", "assets/js/site.js", "assets/icon.svg")
Scheme = Literal["light", "dark"]
LIMIT = 40_000
"""Bytes, compressed: a break's page with everything it needs."""


def test_every_link_and_anchor_inside_the_site_leads_somewhere(published: Path) -> None:
    assert broken_links(published, BASE) == []
    assert len(read_links(published)) > 600


def _invalid(path: str) -> str | None:
    try:
        html5lib.HTMLParser(strict=True).parse(Path(path).read_bytes())
    except html5lib.html5parser.ParseError as error:
        return f"{path}: {error!r}"
    return None


@pytest.mark.parametrize("part", sampled(4))
def test_every_page_is_valid_html(published: Path, part: int) -> None:
    breaks = sorted((published / "gb").glob("*.html"))
    others = sorted({*published.rglob("*.html")} - {*breaks})
    pages = [*breaks[part::4], *(others if part == 0 else [])]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        assert [fault for fault in pool.map(_invalid, map(str, pages), chunksize=20) if fault] == []


def serious_violations(tab: Page) -> list[str]:
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]} ({len(one['nodes'])})"
        for one in Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def overflow(tab: Page) -> int:
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize(
    ("page", "width", "first", "then"),
    [
        pytest.param(page, *screen, marks=[pytest.mark.prove] * (page in LARGE or place % 4 != number))
        for number, screen in enumerate(((1280, "light", "dark"), (360, "dark", "light")))
        for place, page in enumerate(KINDS)
    ],
)
def test_a_page_fits_asks_nobody_else_and_keeps_everybody_in(
    browser: Browser, address: str, page: str, width: int, first: Scheme, then: Scheme
) -> None:
    """Fits the screen, loads without a complaint or a cookie, and axe finds nothing serious."""
    with browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=first, reduced_motion="reduce"
    ) as context:
        visitor = Visitor(context.new_page(), address)
        visitor.watch()
        tab = visitor.open(page)
        tab.wait_for_load_state("networkidle")
        tab.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
        assert overflow(tab) <= 0
        assert serious_violations(tab) == []
        tab.emulate_media(color_scheme=then)
        assert overflow(tab) <= 0
        assert visitor.faults == []
        assert context.cookies() == []


def test_a_page_opens_from_disk_without_a_complaint(disk_visitor: Visitor) -> None:
    """Every kind but the page that only a server shows."""
    for page in KINDS:
        if page != "404.html":
            tab = disk_visitor.open(page)
            expect(tab.locator("main h1")).to_be_visible()
            assert disk_visitor.faults == [], page


@pytest.mark.parametrize("page", KINDS)
def test_a_page_says_as_much_without_script(browser: Browser, address: str, page: str) -> None:
    """Everything that is text is in the HTML; controls that script alone can work are not shown."""
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(address + page)
        assert tab.locator("main h1").count() == 1
        assert tab.locator("main").inner_text().strip()
        dead = tab.locator("main button:visible, main select:visible, main input:visible, main textarea:visible")
        assert dead.count() == 0


@pytest.mark.parametrize("page", ["", "gb/gb0170.html", "dashboard.html", "paste.html", "releases.html"])
def test_nothing_moves_while_a_page_loads(context: BrowserContext, address: str, page: str) -> None:
    tab = context.new_page()
    tab.add_init_script(
        """window.shifts = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.shifts += entry.hadRecentInput ? 0 : entry.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    tab.goto(address + page)
    tab.wait_for_load_state("networkidle")
    tab.wait_for_timeout(200)
    assert tab.evaluate("window.shifts") < 0.01


def test_a_breaks_page_is_small_with_everything_it_needs(published: Path) -> None:
    needed = [published / name for name in NEEDED]
    shared = sum(len(gzip.compress(path.read_bytes())) for path in needed)
    pages = {path.name: len(gzip.compress(path.read_bytes())) for path in (published / "gb").glob("*.html")}
    assert len(pages) >= 593
    assert {name: size for name, size in pages.items() if size + shared > LIMIT} == {}
    whole = statistics.median(path.stat().st_size for path in (published / "gb").glob("*.html"))
    assert whole + sum(path.stat().st_size for path in needed) <= 60_000  # before compression


def test_a_breaks_page_asks_for_nothing_but_style_script_and_icon(context: BrowserContext, address: str) -> None:
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url.removeprefix(address)))
    tab.goto(f"{address}gb/gb0170.html")
    tab.wait_for_load_state("networkidle")
    assert set(asked) <= {"gb/gb0170.html", *NEEDED}
