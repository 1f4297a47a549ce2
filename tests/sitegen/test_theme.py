"""The theme: valid, self-contained, and at home on a phone and in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import html5lib
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page

from sitegen.preview import render_preview, write_preview
from tests.sitegen.fixture_site import HOSTILE, NOTE_PAGES, REPOSITORY, write_fixture_site
from tests.tools import served

EVERY_PAGE = (
    *("index.html", "dashboard.html", "404.html", "liquid.html"),
    *(f"gb/{anchor}.html" for anchor in HOSTILE),
    *NOTE_PAGES.values(),
)

# One of each kind, and those with the widest content.
PAGE_KINDS = (
    *("index.html", "dashboard.html", "404.html"),
    *("gb/gb0002.html", "gb/gb0012.html", *(NOTE_PAGES[name] for name in ("code", "details", "tables"))),
)


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = tmp_path_factory.mktemp("theme") / "docs"
    write_fixture_site(docs)
    return docs


@pytest.fixture(scope="module")
def site(docs: Path) -> dict[str, bytes]:
    return render_preview(docs)


def soup(site: dict[str, bytes], page: str) -> BeautifulSoup:
    return BeautifulSoup(site[page], "html5lib")


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_pages_are_valid_html(site: dict[str, bytes], page: str) -> None:
    html5lib.HTMLParser(strict=True).parse(site[page])


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_no_id_occurs_twice(site: dict[str, bytes], page: str) -> None:
    ids = [str(tag["id"]) for tag in soup(site, page)(id=True)]
    assert sorted(set(ids)) == sorted(ids)


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_a_page_loads_and_runs_nothing_from_elsewhere(site: dict[str, bytes], page: str) -> None:
    tree = soup(site, page)
    assert tree(["iframe", "object", "embed"]) == []
    assert [tag for tag in tree("script") if tag.get("type") or not tag.get("src") or tag.get_text()] == []
    assert [tag for tag in tree(True) if any(name.startswith("on") for name in tag.attrs)] == []
    styles = {str(tag["style"]) for tag in tree(style=True)}  # Markdown's own way to align a column of a table
    assert styles <= {f"text-align: {side};" for side in ("left", "center", "right")}
    loading = tree(["script", "link", "img", "source", "video", "audio"])
    loaded = [str(tag.get("href") or tag.get("src")) for tag in loading if tag.get("rel") != ["canonical"]]
    assert [address for address in loaded if re.match(r"(?:[a-z]+:)?//", address)] == []


@pytest.mark.parametrize("name", ["look.css", "style.css", "lists.css"])
def test_a_stylesheet_loads_nothing(site: dict[str, bytes], name: str) -> None:
    assert not re.search(rb"url\(|@import|https?:", site[f"assets/css/{name}"])


def test_what_a_title_holds_is_text(site: dict[str, bytes]) -> None:
    tree = soup(site, "gb/gb0002.html")
    assert tree.title is not None
    assert tree.title.get_text() == f"GB0002: {HOSTILE['gb0002']} · Graph Break Registry"
    description = tree.select_one("meta[name=description]")
    assert description is not None
    assert description["content"] == HOSTILE["gb0002"]


def test_a_page_without_a_description_has_that_of_the_site(site: dict[str, bytes]) -> None:
    description = soup(site, "liquid.html").select_one("meta[name=description]")
    assert description is not None
    assert str(description["content"]).startswith("Every graph break that torch.compile can report")


def test_the_edit_link_opens_githubs_editor_on_the_source(site: dict[str, bytes]) -> None:
    tree = soup(site, "gb/gb0002.html")
    links = {link["href"] for link in tree("a") if link.get_text().startswith("Edit")}
    assert links == {"https://github.com/meta-pytorch/compile-graph-break-site/edit/main/docs/gb/GB0002.md"}


@pytest.mark.parametrize(
    ("page", "current"),
    [
        ("index.html", "Registry"),
        ("dashboard.html", "Dashboard"),
        ("learn/index.html", "Learn"),
        ("tools/ci.html", "Tools"),
    ],
)
def test_the_menu_shows_where_the_reader_is(site: dict[str, bytes], page: str, current: str) -> None:
    menu = ["Registry", "Paste an error", "Learn", "Tools", "Kinds", "Messages", "Releases", "Dashboard", "About"]
    assert [link.get_text() for link in soup(site, page).select("nav a")] == menu
    assert [link.get_text() for link in soup(site, page).select("nav [aria-current]")] == [current]


def test_the_first_link_skips_to_the_content(site: dict[str, bytes]) -> None:
    tree = soup(site, "index.html")
    first = tree.select("a")[0]
    assert tree.select_one(str(first["href"])) == tree.main


def test_the_footer_credits_pytorch(site: dict[str, bytes]) -> None:
    footer = soup(site, "index.html").footer
    assert footer is not None
    assert "PyTorch" in footer.get_text()


def test_the_settings_turn_off_what_changes_text() -> None:
    """Jekyll reads them, and only the tests that need Jekyll would notice otherwise."""
    settings = (REPOSITORY / "docs" / "_config.yml").read_text()
    assert "smart_quotes: [apos, apos, quot, quot]" in settings
    assert "no_auto_typographic" in settings


@pytest.fixture(scope="module")
def folder(docs: Path) -> Path:
    folder = docs.parent / "_site"
    write_preview(docs, folder)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as origin:
        yield f"{origin}/"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_and_ask_nobody_else(browser: Browser, address: str, width: int, scheme: str) -> None:
    faults: list[str] = []
    with browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    ) as context:
        tab = context.new_page()
        tab.on("request", lambda request: faults.append(request.url) if not request.url.startswith(address) else None)
        tab.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        for page in PAGE_KINDS:
            tab.goto(address + page)
            tab.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
            overflow = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if overflow > 0:
                faults.append(f"{page} is {overflow} px too wide")
        assert _brightness(tab) == scheme
        assert context.cookies() == []
    assert faults == []


def _brightness(tab: Page) -> str:
    colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    return "light" if sum(map(int, re.findall(r"\d+", colour))) > 3 * 128 else "dark"


@pytest.mark.browser
def test_the_site_opens_straight_from_disk(browser: Browser, folder: Path) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto((folder / "index.html").as_uri())
        tab.click("text=GB0003")
        tab.wait_for_url((folder / "gb" / "gb0003.html").as_uri(), wait_until="load")
        assert tab.evaluate("getComputedStyle(document.querySelector('.language-text pre')).whiteSpace") == "pre-wrap"
        tab.click("text=Back to the registry")
        assert tab.url == (folder / "index.html").as_uri()


@pytest.mark.browser
def test_the_keyboard_reaches_the_content_and_shows_where_it_is(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(address)
        tab.keyboard.press("Tab")
        skip = tab.locator(".skip")
        box = skip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert skip.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "content"
