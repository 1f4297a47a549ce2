"""The reader's torch: chosen on one page, in its address, kept on the others."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from sitegen.facets import STATUSES
from tests.browser.conftest import Visitor
from tests.browser.test_home import paste
from tests.committed import committed_breaks, committed_registry

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

OLD = "2.8.0"
NEWEST = "2.15.0"
TURNED = next(one.gb_id for one in committed_registry() if one.status_in(OLD) == "verified" and one.status == "retired")


def choose(page: Page, torch: str) -> None:
    page.locator(".my-torch select").first.select_option(torch)


def status(page: Page) -> str:
    """The first badge that is shown."""
    return page.locator(".gb-head .badge:visible").first.inner_text()


def test_a_page_turns_to_the_chosen_release_and_back(either_visitor: Visitor) -> None:
    page = either_visitor.open(f"gb/{TURNED.lower()}.html")
    assert status(page) != STATUSES["verified"]
    before = page.url
    choose(page, OLD)
    assert status(page) == STATUSES["verified"]
    assert page.url == f"{before}?torch={OLD}"
    assert page.locator(".strip [aria-current]").get_attribute("data-release") == OLD
    assert page.locator(".tape [aria-current] th").inner_text().startswith(OLD)
    choose(page, NEWEST)
    assert (page.url, status(page)) == (before, page.locator(".gb-head .badge:not([hidden])").first.inner_text())
    assert either_visitor.faults == []


def test_a_box_of_the_strip_chooses_its_release(visitor: Visitor) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html")
    page.locator(f".strip [data-release='{OLD}']").click()
    assert page.locator(".my-torch select").input_value() == OLD
    assert status(page) == STATUSES["verified"]


@pytest.mark.parametrize("gb_id", ["GB0121", "GB4411"])
def test_the_program_for_the_chosen_release_comes_first(visitor: Visitor, gb_id: str) -> None:
    gb = committed_breaks()[gb_id]
    page = visitor.open(f"gb/{gb_id.lower()}.html")
    shown = page.locator(".example:visible")
    assert shown.get_attribute("id") == f"{gb.programs_for(NEWEST)[0].repro.name.lower()}-program"
    choose(page, OLD)
    assert shown.get_attribute("id") == f"{gb.programs_for(OLD)[0].repro.name.lower()}-program"


def test_an_anchor_leads_to_its_part_whatever_release_is_chosen(visitor: Visitor) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html?torch={OLD}#hints")
    expect(page.locator("#hints")).to_be_in_viewport()


def test_back_leads_to_a_page_that_shows_what_was_chosen_since(visitor: Visitor) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html")
    choose(page, OLD)
    for name in ("gb0170", "gb0007"):
        visitor.open(f"gb/{name}.html")
    choose(page, NEWEST)
    page.go_back()
    assert page.locator(".my-torch select").input_value() == NEWEST
    assert page.url.endswith("gb0170.html")


def test_what_was_pasted_stays_when_another_release_is_chosen(visitor: Visitor) -> None:
    page = visitor.open()
    paste(page, "torch._dynamo.exc.Unsupported: Data-dependent branching\n  Explanation: Detected it")
    expect(page.locator(".findings-here")).to_be_visible()
    choose(page, OLD)
    expect(page.locator(".findings-here")).to_be_visible()


def test_the_choice_is_kept_on_other_pages_and_for_the_next_visit(context: BrowserContext, visitor: Visitor) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html")
    choose(page, OLD)
    for link in ("Dashboard", "Kinds", "Registry"):
        page.get_by_label("Site").get_by_role("link", name=link, exact=True).click()
        if page.locator(".my-torch").count():  # the cards of the kinds are the same in every release
            assert page.locator(".my-torch select").first.input_value() == OLD
            assert f"torch={OLD}" in page.url
    row = page.locator("ul.registry > li", has=page.get_by_role("link", name=TURNED, exact=True))
    expect(row.locator(".row-status")).to_have_text(STATUSES["verified"])
    later = context.new_page()
    later.goto(f"{visitor.address}categories/{committed_breaks()[TURNED].category}.html")
    entry = later.locator(".kind > ul > li", has=later.get_by_role("link", name=TURNED, exact=True))
    assert entry.locator(".badge:visible").inner_text() == STATUSES["verified"]
    assert visitor.faults == []


def test_an_address_is_for_this_visit_only(context: BrowserContext, visitor: Visitor) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html?torch={OLD}")
    visitor.open("dashboard.html")
    assert page.locator(".my-torch select").input_value() == OLD
    later = context.new_page()
    later.goto(f"{visitor.address}dashboard.html")
    assert later.locator(".my-torch select").input_value() == NEWEST


def test_a_release_that_was_chosen_earlier_is_said_and_can_be_dropped(
    context: BrowserContext, visitor: Visitor
) -> None:
    page = visitor.open(f"gb/{TURNED.lower()}.html")
    why = page.locator(".my-torch-why:visible")
    assert why.count() == 0
    choose(page, OLD)
    assert why.count() == 0  # who just chose it knows
    later = context.new_page()
    later.goto(f"{visitor.address}gb/gb0170.html")
    why = later.locator(".my-torch-why:visible")
    assert why.inner_text() == f"You see torch {OLD}, chosen earlier. Show the newest"
    later.get_by_role("button", name="Show the newest").click()
    assert (why.count(), later.locator(".my-torch select").input_value()) == (0, NEWEST)
    assert later.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert later.url == f"{visitor.address}gb/gb0170.html"
    visitor.open(f"gb/gb0170.html?torch={OLD}")
    assert page.locator(".my-torch-why:visible").inner_text().startswith(f"This address asks for torch {OLD}.")


def test_the_list_of_what_is_new_shows_that_release_whatever_was_chosen_before(visitor: Visitor) -> None:
    page = visitor.open()
    choose(page, OLD)
    page = visitor.open()
    page.get_by_role("link", name=f"new in torch {NEWEST}").click()
    assert page.locator(".my-torch select").first.input_value() == NEWEST
    expect(page.locator("#count")).not_to_have_text(f"{len(committed_registry())} of {len(committed_registry())}")
    statuses = page.locator("ul.registry > li:visible .row-status").all_inner_texts()
    assert statuses
    assert "Not in this release" not in statuses


@pytest.mark.parametrize(
    ("asked", "shown"), [("2.8", OLD), ("2.9.0", "2.9.1"), (NEWEST, NEWEST), ("9.9", NEWEST), ("<b>", NEWEST)]
)
def test_an_address_may_name_a_release_that_we_did_not_run(visitor: Visitor, asked: str, shown: str) -> None:
    page = visitor.open(f"gb/gb0170.html?torch={asked}")
    assert page.locator(".my-torch select").input_value() == shown
    assert page.url.endswith("gb0170.html" if shown == NEWEST else f"gb0170.html?torch={shown}")


@pytest.mark.parametrize("torch", [OLD, NEWEST])
def test_a_number_of_a_release_leads_to_its_list_whatever_was_chosen_before(visitor: Visitor, torch: str) -> None:
    page = visitor.open("dashboard.html")
    choose(page, "2.13.0")
    number = page.locator(f"tr[data-release='{torch}'] td a").nth(1)  # emitted, verified, …
    count = number.inner_text()
    number.click()
    expect(page.locator("#count")).to_have_text(f"{count} of {len(committed_registry())}")
    expect(page.locator("ul.registry > li .row-status").first).to_have_text(STATUSES["verified"])
    assert page.locator(".my-torch select").input_value() == torch
    assert page.locator("select[name=status]").input_value() == "verified"
    assert page.locator("#chips li").count() == 0
    page.get_by_role("button", name="Clear filters").click()
    assert page.locator(".my-torch select").input_value() == torch


def test_the_list_filters_by_the_status_in_the_chosen_release(visitor: Visitor) -> None:
    page = visitor.open("?status=verified")
    verified = {
        torch: sum(one.status_in(torch) == "verified" for one in committed_registry()) for torch in (OLD, NEWEST)
    }
    expect(page.locator("#count")).to_have_text(f"{verified[NEWEST]} of {len(committed_registry())}")
    choose(page, OLD)
    expect(page.locator("#count")).to_have_text(f"{verified[OLD]} of {len(committed_registry())}")
    assert f"({verified[OLD]})" in page.locator("select[name=status] option:checked").inner_text()
    assert "status=verified" in page.url
    assert f"torch={OLD}" in page.url


def test_the_dashboard_shows_the_charts_of_the_chosen_release(visitor: Visitor) -> None:
    page = visitor.open("dashboard.html")
    choose(page, OLD)
    labels = [str(svg.get_attribute("aria-label")) for svg in page.locator("svg[aria-label*='torch 2']:visible").all()]
    assert labels == [f"From registered to verified, torch {OLD}", f"Ids by kind and status in torch {NEWEST}"]
    assert page.locator("#kinds caption").inner_text() == f"By status in torch {OLD}"


def test_what_upgrading_buys_starts_from_the_readers_torch(visitor: Visitor) -> None:
    page = visitor.open(f"gb/gb0170.html?torch={OLD}")
    visitor.open("releases.html")
    expect(page.locator("#compared h2")).to_contain_text(f"From torch {OLD}")
    expect(page.locator("#compared h3").first).to_have_text("What upgrading buys you")
    gone = page.locator("#compared details", has_text="No longer break").first
    assert int(gone.locator("summary").inner_text().split("(")[1].rstrip(")")) == gone.locator("li").count() > 10
    assert visitor.faults == []


def test_without_script_the_newest_is_shown_and_the_others_are_in_the_table(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}gb/{TURNED.lower()}.html")
        assert page.locator(".my-torch").inner_text().endswith(NEWEST)
        rows = page.locator(".tape tbody tr")
        assert rows.first.get_attribute("data-release") == NEWEST
        page.locator(f".strip [data-release='{OLD}']").click()
        assert page.url.endswith(f"?torch={OLD}#releases")
