"""A break's page under a reader's hands."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from registry.repros import read_repros
from registry.snippets import take_apart
from sitegen.break_page import MARK
from tests.browser.conftest import Visitor
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]
OF_GB0007 = sum(repro.gb_id == "GB0007" for repro in read_repros(ROOT / "registry" / "repros").values())


@pytest.mark.parametrize("gb_id", ["GB0109", "GB0239"], ids=["short", "with a long set-up"])
def test_each_copy_button_copies_the_code_beside_it(context: BrowserContext, visitor: Visitor, gb_id: str) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = visitor.open(f"gb/{gb_id.lower()}.html")
    program = take_apart(read_repros(ROOT / "registry" / "repros")[gb_id])
    expected = [program.broken.script, *(fix.script for fix in program.fixes)]
    assert tab.locator(".sample .copy").count() == len(expected)
    for number, code in enumerate(expected):
        button = tab.locator(".sample .copy").nth(number)
        button.click()
        tab.wait_for_function("element => element.textContent === 'Copied'", arg=button.element_handle())
        assert tab.evaluate("navigator.clipboard.readText()").replace(MARK, "") == code


def test_code_is_copied_from_a_page_on_disk(context: BrowserContext, disk_visitor: Visitor) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = disk_visitor.open("gb/gb0109.html")
    tab.locator(".sample .copy").first.click()
    expect(tab.get_by_role("button", name="Copied")).to_be_visible()
    assert "def broken(" in tab.evaluate("navigator.clipboard.readText()")


def test_an_id_with_several_programs_shows_the_one_of_the_chosen_tab(either_visitor: Visitor) -> None:
    tab = either_visitor.open("gb/gb0007.html")
    programs = tab.locator(".example")
    assert [program.is_visible() for program in programs.all()] == [True, *[False] * (OF_GB0007 - 1)]
    tab.get_by_role("tab", name="time.time()").click()
    assert tab.locator("#gb0007_time-program").is_visible()
    assert not programs.first.is_visible()
    tab.keyboard.press("ArrowLeft")
    assert not tab.locator("#gb0007_time-program").is_visible()
    either_visitor.open("gb/gb0007.html#gb0007_save-program")
    tab.reload()
    assert tab.locator("#gb0007_save-program").is_visible()


def test_without_script_all_programs_of_an_id_are_shown(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}gb/gb0007.html")
        assert [program.is_visible() for program in tab.locator(".example").all()] == [True] * OF_GB0007


def test_code_is_selected_where_the_clipboard_is_out_of_reach(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0109.html")
    tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    button = tab.locator(".copy").first
    button.click()
    tab.wait_for_function("element => element.textContent === 'Press Ctrl-C'", arg=button.element_handle())
    assert tab.evaluate("getSelection().toString()").startswith("import torch")


def test_breaks_and_works_stand_side_by_side_and_on_a_phone_one_under_the_other(browser: Browser, address: str) -> None:
    for width, beside in ((1280, True), (360, False)):
        with browser.new_context(viewport={"width": width, "height": 800}) as context:
            tab = context.new_page()
            tab.goto(f"{address}gb/gb0109.html")
            breaks = tab.locator(".pair .breaks").bounding_box()
            works = tab.locator(".pair .works").bounding_box()
            assert breaks is not None
            assert works is not None
            assert (breaks["y"] == works["y"]) is beside
            assert breaks["y"] + breaks["height"] < 800 or not beside


def test_a_slash_goes_to_the_search_box_and_enter_to_the_results(either_visitor: Visitor) -> None:
    tab = either_visitor.open("gb/gb0109.html")
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.name") == "q"
    tab.keyboard.type("item/()")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile(r"/(index\.html)?\?q=item%2F%28%29$"))
    expect(tab.locator("#all")).to_have_text("Results")
    expect(tab.locator("ul.registry")).to_contain_text("Tensor.item()")
    tab.go_back()
    expect(tab.locator("#gb0109")).to_be_visible()


def test_the_script_opens_as_text(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0109.html")
    tab.get_by_role("link", name="read the script").click()
    tab.wait_for_url("**/api/v1/gb/GB0109.py.txt")
    assert "if __name__ == " in tab.locator("pre").inner_text()


def test_the_anchors_that_torch_and_readers_use_are_there(visitor: Visitor) -> None:
    for anchor in ("gb0109", "graph-break-type", "context", "explanation", "hints", "additional-information"):
        tab = visitor.open(f"gb/gb0109.html#{anchor}")
        assert tab.locator(f"#{anchor}").is_visible()


def test_a_page_prints_without_what_paper_can_not_do(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0109.html")
    tab.emulate_media(media="print")
    assert tab.locator(".copy").first.is_hidden()
    assert tab.locator(".site-header nav").is_hidden()
    assert tab.locator(".pair .breaks pre").is_visible()


def test_all_programs_are_printed(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0007.html")
    tab.emulate_media(media="print")
    assert [program.is_visible() for program in tab.locator(".example").all()] == [True] * OF_GB0007
    assert tab.locator(".example .tab-title").last.is_visible()


def test_what_a_fix_does_otherwise_is_marked_as_a_line_and_so_is_the_line_that_breaks(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0170.html")
    first = tab.locator(".example").first
    assert first.locator(".breaks .line.here").all_inner_texts() == ["    if x.mean() > 0:  # breaks here"]
    marked = [sample.locator(".line.changed").all_inner_texts() for sample in first.locator(".works").all()]
    assert marked == [
        ["    return torch.where(x.mean() > 0, x.sin(), x.cos())"],
        ["    return torch.cond(x.mean() > 0, torch.sin, torch.cos, (x,))"],
    ]


def test_a_report_to_pytorch_has_the_program_and_the_message_and_is_not_too_long(visitor: Visitor) -> None:
    for gb_id in ("GB0170", "GB0007", "GB0252"):
        tab = visitor.open(f"gb/{gb_id.lower()}.html")
        address = str(tab.get_by_role("link", name="Report it to PyTorch").get_attribute("href"))
        query = parse_qs(urlsplit(address).query)
        assert query["title"][0].startswith(f"[dynamo] {gb_id}: ")
        assert len(address) <= 7000
        if gb_id == "GB0170":
            assert "def broken(x):" in query["body"][0]
            assert "Data-dependent branching\n  Explanation: " in query["body"][0]


def test_on_a_phone_the_fix_begins_within_the_first_screen_and_a_half(browser: Browser, address: str) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}) as context:
        tab = context.new_page()
        tab.goto(f"{address}gb/gb0170.html")
        fix = tab.locator(".works pre").first.bounding_box()
        assert fix is not None
        assert fix["y"] <= 1.5 * 740


def test_a_heading_has_a_link_to_itself(visitor: Visitor) -> None:
    tab = visitor.open("gb/gb0170.html")
    tab.locator("#what-torch-prints .permalink").click()
    assert tab.url.endswith("#what-torch-prints")
