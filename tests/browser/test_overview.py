"""The pages about many breaks, as somebody meets them: dashboard, releases, kinds, about."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Gate, Visitor
from tests.committed import committed_registry
from tests.sitegen.built_pages import PageFacts, page_facts
from tests.tools import BASE

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

PAGES = (
    "dashboard.html",
    "releases.html",
    "categories.html",
    "categories/data-dependent-control-flow.html",
    "about.html",
    "cost.html",
)


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_a_choice_that_is_made_before_the_data_is_there_counts(visitor: Visitor) -> None:
    gate, page = Gate(), visitor.page
    page.route("**/data/releases.js", gate.pass_or_hold)
    page.goto(f"{visitor.address}releases.html", wait_until="domcontentloaded")
    page.get_by_label("From torch").select_option("2.11.0")
    expect(page.locator("#compared h2")).to_have_count(0)
    gate.open()
    expect(page.locator("#compared h2")).to_contain_text("From torch 2.11.0")


def test_two_releases_are_chosen_and_the_address_remembers_them(either_visitor: Visitor) -> None:
    page = either_visitor.open("releases.html")
    page.get_by_label("From torch").select_option("2.11.0")
    expect(page.locator("#compared h2")).to_contain_text("From torch 2.11.0")
    page.get_by_label("to torch").select_option("2.13.0")
    expect(page.locator("#compared h2")).to_contain_text("to 2.13.0")
    assert asked(page) == {"from": ["2.11.0"], "to": ["2.13.0"]}
    expect(page.locator("#compared")).to_contain_text("On cpu")

    page.go_back()
    expect(page.locator("#compared h2")).to_contain_text("to 2.15.0")
    expect(page.get_by_label("to torch")).to_have_value("2.15.0")
    page.go_back()
    expect(page.get_by_label("From torch")).to_have_value("2.14.1")
    page.go_forward()
    expect(page.get_by_label("From torch")).to_have_value("2.11.0")


def test_an_address_opens_its_comparison_and_an_id_in_it_its_page(either_visitor: Visitor) -> None:
    page = either_visitor.open("releases.html?from=2.13.0&to=2.14.0")
    added = page.locator("#compared details", has=page.locator("summary", has_text=re.compile(r"^Added \(")))
    added.locator("summary").click()
    first = added.locator("li a").first
    name = first.inner_text()
    first.click()
    expect(page).to_have_url(f"{either_visitor.address}gb/{name.lower()}.html")
    expect(page.locator("h1").first).to_contain_text(name)


def test_a_comparison_can_be_turned_round(visitor: Visitor) -> None:
    page = visitor.open("releases.html?from=2.13.0&to=2.14.0")
    added = page.locator("#compared summary", has_text="Added").inner_text()
    page.get_by_role("button", name="Swap").click()
    expect(page.locator("#compared summary", has_text="Dropped")).to_contain_text(re.findall(r"\(\d+\)", added)[0])
    assert asked(page) == {"from": ["2.14.0"], "to": ["2.13.0"]}


def test_releases_that_were_not_run_say_so(visitor: Visitor) -> None:
    page = visitor.open("releases.html?from=2.9.0&to=2.13.0")
    expect(page.locator("#compared")).to_contain_text("Not run with torch 2.9.0.")


def test_the_page_of_releases_and_its_script_say_the_same(visitor: Visitor) -> None:
    page = visitor.open("releases.html?from=2.14.1&to=2.15.0")
    expect(page.locator("#compared h2")).to_be_visible()
    by_script = squeezed_texts(page, "#compared > h3:text('What changed in the registry') ~ details")
    without_script = squeezed_texts(page, "#torch-2\\.15\\.0 ~ details")
    words = sum(one.startswith(("Added(", "Reworded(", "Nolongeremitted(")) for one in by_script)
    assert words == 3
    assert without_script[:words] == by_script[:words]
    assert set(by_script[words:]) <= set(without_script)


def squeezed_texts(page: Page, selector: str) -> list[str]:
    """Texts without white space: a template's line breaks are none of the reader's."""
    return [re.sub(r"\s+", "", text) for text in page.locator(selector).all_text_contents()]


def test_without_script_the_releases_are_complete(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}releases.html")
        expect(page.locator("#compare")).to_be_hidden()
        section = page.locator("#torch-2\\.15\\.0 + p + details")
        section.locator("summary").click()
        expect(section.locator("li a").first).to_be_visible()


def test_without_its_data_the_page_says_so_and_stays_useful(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/data/releases.js", lambda route: route.abort())
        page.goto(f"{address}releases.html")
        expect(page.locator("#compared")).to_contain_text("could not be loaded")
        expect(page.locator("#compare")).to_be_hidden()


@pytest.mark.parametrize("path", PAGES)
def test_both_builds_of_a_page_say_the_same(path: str, published: Path, on_disk: Path) -> None:
    by_jekyll = page_facts((published / path).read_bytes(), f"{BASE}/{path}")
    by_python = page_facts((on_disk / path).read_bytes(), f"/{path}")
    assert without_base(by_jekyll) == without_base(by_python)


def without_base(facts: PageFacts) -> dict[str, object]:
    links = [link.replace(BASE, "", 1) for link in facts.links]
    return {"headings": facts.headings, "links": links, "text": facts.text, "structure": facts.structure}


@pytest.mark.parametrize("width", [360, 1280])
def test_charts_fit_the_page_and_have_colours_in_light_and_dark(browser: Browser, address: str, width: int) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
            page = context.new_page()
            page.goto(f"{address}dashboard.html")
            charts = page.locator(".chart svg:visible")
            for box in charts.evaluate_all("all => all.map((one) => one.getBoundingClientRect())"):
                assert 250 < box["width"] <= width - box["left"]
            colours[scheme] = page.locator(".chart.wide svg path").evaluate_all(
                "all => [...new Set(all.map((one) => getComputedStyle(one).fill))].sort()"
            )
    assert len(colours["light"]) == len(colours["dark"]) == len({gb.status for gb in committed_registry()})
    assert not set(colours["light"]) & set(colours["dark"])


def test_a_number_on_the_dashboard_leads_to_the_home_page_with_its_filter(visitor: Visitor) -> None:
    page = visitor.open("dashboard.html")
    page.locator("#coverage ~ table td a").first.click()
    expect(page).to_have_url(re.compile(rf"{BASE}/index\.html\?live=2\.15\.0$"))


def test_an_old_link_to_a_kind_finds_its_row_which_leads_on(visitor: Visitor) -> None:
    page = visitor.open("dashboard.html#context-managers")
    row = page.locator("tr:target")
    expect(row).to_be_in_viewport()
    row.get_by_role("link", name="Context managers").click()
    expect(page.locator("h1")).to_have_text("Context managers")
    page.get_by_role("link", name="Kinds", exact=True).last.click()
    expect(page.locator("h1")).to_have_text("Kinds of graph breaks")


def test_the_about_page_knows_where_its_source_is(visitor: Visitor) -> None:
    page = visitor.open("about.html")
    links = page.locator("main a[href*='github.com']").evaluate_all("all => all.map((one) => one.href)")
    assert "https://github.com/meta-pytorch/compile-graph-break-site/tree/main/registry/repros" in links
    assert not [link for link in links if "{" in link or "%7B" in link]
