"""The glossary's page, and the first use of a term on other pages: what hover and focus say is what the page says."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup, Tag

from registry.model import Registry
from registry.snippets import programs_of
from sitegen.break_page import BreakPages
from sitegen.markdown_shim import markdown_converter
from sitegen.overview import render_overview
from sitegen.templating import FirstUses, template_environment
from tests.committed import committed_breaks, committed_registry
from tests.conftest import ROOT
from tests.sitegen.overview_pages import html_of

TERM = "a[href*='glossary.'][title]"
SMALL = {
    "guard": "A `check` of a call.",
    "graph": "A list.",
    "graph break": "An end.",
    "higher-order op": "Takes code.",
}


def explained(text: str, uses: FirstUses) -> BeautifulSoup:
    template = template_environment(ROOT / "templates").from_string("{{ text | explained(uses) }}")
    return BeautifulSoup(markdown_converter()(template.render(text=text, uses=uses)), "html5lib")


def links(page: BeautifulSoup | Tag) -> list[tuple[str, str]]:
    """(what is linked, its address)."""
    return [(link.get_text(), str(link["href"])) for link in page.select(TERM)]


# The filter


def test_only_the_first_use_on_a_page_is_a_link() -> None:
    uses = FirstUses(SMALL, "../")
    assert links(explained("A guard, and another guard.", uses)) == [("guard", "../glossary.md#guard")]
    assert links(explained("Guards again.", uses)) == []
    assert links(explained("Guards, on another page.", FirstUses(SMALL))) == [("Guards", "glossary.md#guard")]


def test_the_longest_term_is_taken() -> None:
    found = links(explained("Graph breaks, graphs and a higher-order op.", FirstUses(SMALL)))
    assert found == [
        ("Graph breaks", "glossary.md#graph-break"),
        ("graphs", "glossary.md#graph"),
        ("higher-order op", "glossary.md#higher-order-op"),
    ]


@pytest.mark.parametrize(
    "text", ["`guard`", "guard_or_false", "graph-like", "torch.fx.graph", "sub-graph", "paragraph"]
)
def test_code_and_longer_names_are_left_alone(text: str) -> None:
    shown = explained(text, FirstUses(SMALL))
    assert links(shown) == []
    assert shown.get_text().strip() == text.replace("`", "")


def test_a_link_says_what_the_term_means_and_text_stays_text() -> None:
    shown = explained('A <b>guard</b> & "{{ more }}".', FirstUses(SMALL))
    assert [link["title"] for link in shown.select(TERM)] == ["A check of a call."]
    assert shown.get_text().strip() == 'A <b>guard</b> & "{{ more }}".'


def test_without_a_glossary_nothing_is_linked() -> None:
    assert links(explained("A guard.", FirstUses({}))) == []


# The pages


@pytest.fixture(scope="module")
def registry() -> Registry:
    return committed_registry()


@pytest.fixture(scope="module")
def overview(registry: Registry) -> dict[str, BeautifulSoup]:
    texts = render_overview(registry, programs_of(registry), template_environment(ROOT / "templates"))
    return {name: html_of(text) for name, text in texts.items() if name.endswith(".md")}


@pytest.fixture(scope="module")
def break_pages(registry: Registry) -> dict[str, BeautifulSoup]:
    pages = BreakPages(registry, programs_of(registry), template_environment(ROOT / "templates"))
    chosen = ("GB0170", "GB0083", "GB0039", "GB0113")
    return {f"gb/{gb_id}.md": BeautifulSoup(pages.render(committed_breaks()[gb_id]), "html5lib") for gb_id in chosen}


@pytest.fixture(scope="module")
def about() -> BeautifulSoup:
    return BeautifulSoup((ROOT / "docs" / "about.md").read_text("utf-8"), "html5lib")


@pytest.fixture(scope="module")
def pages(overview: dict[str, BeautifulSoup], about: BeautifulSoup) -> dict[str, BeautifulSoup]:
    """Those that explain terms."""
    kinds = {name: page for name, page in overview.items() if name.startswith("categories/")}
    return {**kinds, "about.md": about}


def meanings(overview: dict[str, BeautifulSoup]) -> dict[str, str]:
    """Anchor -> text on the glossary's page."""
    terms = overview["glossary.md"].select("h2")
    found = {str(term["id"]): term.find_next_sibling("p") for term in terms}
    return {anchor: text.get_text() for anchor, text in found.items() if text is not None}


@pytest.mark.slow
def test_the_page_has_an_anchor_and_a_text_for_each_term(
    registry: Registry, overview: dict[str, BeautifulSoup]
) -> None:
    names = [term.get_text() for term in overview["glossary.md"].select("h2")]
    assert names == list(registry.glossary)
    assert list(meanings(overview).values()) == [text.replace("`", "") for text in registry.glossary.values()]


@pytest.mark.slow
def test_what_is_said_on_hover_and_on_focus_is_what_the_glossary_says(
    pages: dict[str, BeautifulSoup], overview: dict[str, BeautifulSoup]
) -> None:
    known = meanings(overview)
    for name, page in pages.items():
        assert page.select(TERM), f"{name} explains nothing"
        for link in page.select(TERM):
            address, _, anchor = str(link["href"]).partition("#")
            assert address == ("../glossary.md" if "/" in name else "glossary.html"), name
            assert link["title"] == known[anchor], f"{name}: {anchor}"


@pytest.mark.slow
def test_a_page_explains_a_term_once_and_neither_in_code_nor_in_a_heading(pages: dict[str, BeautifulSoup]) -> None:
    for name, page in pages.items():
        anchors = [str(link["href"]) for link in page.select(TERM)]
        assert len(anchors) == len(set(anchors)), name
        assert page.select(f":is(code, pre, h1, h2, h3, h4, a) {TERM}") == []


def test_the_keyboard_shows_what_the_mouse_shows() -> None:
    """Without script: the text of the title, in a box that no narrow screen cuts off."""
    style = (ROOT / "docs" / "assets" / "css" / "lists.css").read_text("utf-8")
    rule = re.search(r"\[title\]:focus-visible::after \{(.+?)\}", style, re.DOTALL)
    assert rule is not None
    assert "content: attr(title);" in rule[1]
    assert "position: fixed;" in rule[1]


def test_the_glossary_is_linked_from_every_page_and_from_about(about: BeautifulSoup) -> None:
    footer = (ROOT / "docs" / "_includes" / "footer.html").read_text("utf-8")
    assert "'/glossary.html' | relative_url" in footer
    assert "(glossary.html)" in about.get_text()
