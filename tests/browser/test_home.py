"""The home page in a browser: search, filters, the address, the keyboard, and no script at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from sitegen.compact import data_script
from sitegen.facets import facets_of
from tests.browser.conftest import Gate, Visitor
from tests.committed import committed_registry

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

BOX = "input[type=search]"
TOTAL = len(committed_registry())
LOOP = (Path(__file__).parent / "fixtures" / "loop.log").read_text("utf-8")

MARKED = "[...CSS.highlights.get('found')].map((range) => range.toString())"
FOCUSED = "document.activeElement.textContent"
SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifts += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def counts(page: Page, number: int) -> None:
    """Wait until the page says how many were found."""
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{number} of {TOTAL}\b"))


def searched(page: Page) -> None:
    """Wait until the list is that of a search."""
    expect(page.locator("#all")).to_have_text("Results")


def at_rest(page: Page) -> None:
    """Wait until the list is the plain one."""
    expect(page.locator("#all")).to_have_text("All graph breaks")
    expect(page.locator("#count")).to_have_text(f"{TOTAL} graph breaks")


def rows(page: Page) -> Locator:
    return page.locator("ul.registry > li")


def ids(page: Page) -> list[str]:
    return page.locator("ul.registry > li > a").all_text_contents()


def unfold(page: Page) -> None:
    page.get_by_role("button", name="Filters").click()


def having(**facets: str) -> list[str]:
    """Python's own list for an address: facets ANDed, a comma for OR, `any` and `none`."""

    def fits(value: str, values: tuple[str, ...]) -> bool:
        return bool(values) == (value == "any") if value in ("any", "none") else bool({*value.split(",")} & {*values})

    registry = [(gb.gb_id, facets_of(gb)) for gb in committed_registry()]
    return [gb_id for gb_id, has in registry if all(fits(value, has.get(facet, ())) for facet, value in facets.items())]


def give_data(visitor: Visitor, **data: Any) -> None:
    """Let the search work on these data instead of the registry's."""
    category = {"name": "category", "words": "kind", "values": ["k"]}
    status = {"name": "status", "words": "status", "values": ["verified"], "titles": ["Verified fix"]}
    whole = {"schema": 2, "before": "", "kinds": {}, "releases": ["2.15.0"], "messages": [], **data}
    whole["facets"] = [*data.get("facets", [category]), status]
    whole["breaks"] = [{"statuses": "0", **one} for one in data.get("breaks", [])]
    [script] = data_script("breaks", json.dumps(whole)).values()
    visitor.page.route("**/data/breaks.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))


def test_a_message_is_found_by_its_words(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_role("searchbox").fill("attempted to jump with TensorVariable()")
    counts(page, 1)
    assert ids(page)[0] == "GB0170"


def test_a_message_with_its_values_filled_in_is_read_as_one(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_role("searchbox").fill("attempted to jump with Xyzzy9Variable()")
    expect(page.locator("#results .findings-here")).to_contain_text("GB0170")
    expect(page.locator("#count")).to_have_text("Read as a message")
    expect(page.locator("ul.registry")).to_be_hidden()


def test_typing_finds_and_the_plain_list_comes_back(either_visitor: Visitor) -> None:
    page = either_visitor.open()
    at_rest(page)
    as_they_were = rows(page).evaluate_all("rows => rows.map((row) => row.outerHTML)")
    assert len(as_they_were) == TOTAL
    page.locator(BOX).press_sequentially("gb170")
    counts(page, 1)
    searched(page)
    assert ids(page) == ["GB0170"]
    expect(page.locator("#met")).to_be_hidden()
    row = rows(page).first
    assert row.locator(".row-status").inner_text() == "Verified fix"
    assert row.locator(".row-kind").inner_text() == "Data-dependent control flow and dynamic shapes"
    assert row.locator(".row-releases").inner_text() == "2.8.0 – 2.15.0"
    assert row.locator(".row-fix").inner_text().startswith("Fix: ")
    page.fill(BOX, "")
    at_rest(page)
    expect(page.locator("#met")).to_be_visible()
    assert page.locator("#results *").count() == 0
    assert rows(page).evaluate_all("rows => rows.map((row) => row.outerHTML)") == as_they_were


def test_words_are_marked(visitor: Visitor) -> None:
    page = visitor.open("?q=Generator")
    searched(page)
    marked = page.evaluate(MARKED)
    assert {text.lower() for text in marked} >= {"generator"}
    assert all(text.lower().startswith("generat") for text in marked)
    page.fill(BOX, "")
    at_rest(page)
    assert page.evaluate(MARKED) == []


def test_an_old_title_that_was_sought_is_said(visitor: Visitor) -> None:
    gb, old = next(
        (gb, dated.revision.gb_type)
        for gb in committed_registry()
        for dated in gb.revisions[1:]
        if dated.revision.gb_type.lower() not in gb.gb_type.lower() and len(dated.revision.gb_type.split()) > 3
    )
    page = visitor.open()
    page.fill(BOX, old)
    searched(page)
    expect(rows(page).first).to_contain_text(gb.gb_id)
    expect(rows(page).first.locator(".row-old")).to_have_text(f"Old title: {old}")
    page.fill(BOX, gb.gb_type)
    expect(rows(page).first).to_contain_text(gb.gb_id)
    expect(rows(page).first.locator(".row-old")).to_have_count(0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("generator context manager", rf"\d+ of {TOTAL}, \d+ more have some of these words"),
        ("generator qqqqqq", "No break has all of these words; these have 1 of 2"),
        ("genrator qqqqqq", "No break has all of these words; these have 1 of 2, nothing says “genrator”, .*"),
        ("qqqqqq", f"0 of {TOTAL}"),
    ],
)
def test_the_count_says_how_much_of_the_text_was_found(visitor: Visitor, text: str, words: str) -> None:
    page = visitor.open()
    page.fill(BOX, text)
    expect(page.locator("#count")).to_have_text(re.compile(f"^{words}$"))


def test_rows_that_hardly_fit_are_counted_too(visitor: Visitor) -> None:
    entry = {"id": "GB0001", "title": "a title", "facets": {"category": "1"}}
    give_data(visitor, breaks=[entry], kinds={"k": "xyzzy"})
    page = visitor.open("?q=xyzzy")
    expect(page.locator("#count")).to_have_text("0 of 1, 1 more have some of these words")
    assert ids(page) == ["GB0001"]


def test_an_id_that_is_newer_than_the_page_is_left_out(visitor: Visitor) -> None:
    give_data(visitor, breaks=[{"id": gb_id, "title": "xyzzy", "facets": {}} for gb_id in ("GB0001", "GB9998")])
    page = visitor.open("?q=xyzzy")
    expect(page.locator("#count")).to_have_text("1 of 1")
    assert ids(page) == ["GB0001"]


def test_fifty_are_shown_and_the_rest_on_demand(visitor: Visitor) -> None:
    page = visitor.open("?live=2.15.0")
    expected = having(live="2.15.0")
    counts(page, len(expected))
    assert ids(page) == expected[:50]
    page.get_by_role("button", name=f"Show all {len(expected)}").click()
    assert ids(page) == expected
    assert page.evaluate(FOCUSED) == expected[50]
    expect(page.locator(".show-all")).to_have_count(0)


FILTERS = [
    {"category": "context-managers"},
    {"status": "verified"},
    {"status": "unreached,open"},
    {"live": "2.13.0"},
    {"live": "2.13.0", "run": "2.13.0 cpu eager verified"},
    {"run": "2.8.0 cpu eager other id"},
    {"device": "cuda", "fix": "custom op"},
    {"fix": "rewrite,flag"},
    {"reworded": "2.11.0", "category": "autograd-and-hooks"},
    {"retired": "2.13.0"},
    {"gap": "explanation"},
    {"finding": "silently wrong result"},
    {"lifecycle": "dropped"},
    {"new": "2.15.0"},
]


@pytest.mark.prove
def test_a_list_link_shows_what_python_counts(visitor: Visitor) -> None:
    page = visitor.open()
    for facets in FILTERS:
        expected = having(**facets)
        assert expected
        page.goto(f"{visitor.address}?{urlencode(facets)}")
        counts(page, len(expected))
        assert ids(page) == expected[:50]


@pytest.mark.parametrize("width", [1280, 360])
def test_the_filters_are_folded_until_they_are_asked_for(visitor: Visitor, width: int) -> None:
    visitor.page.set_viewport_size({"width": width, "height": 900})
    page = visitor.open()
    filters = page.get_by_role("group", name="Filters", exact=True)
    toggle = page.get_by_role("button", name="Filters")
    for unfolded in (False, True, False):
        expect(filters).to_have_count(int(unfolded))
        expect(toggle).to_have_attribute("aria-expanded", str(unfolded).lower())
        toggle.click()


@pytest.mark.prove
def test_an_option_says_how_many_it_gives(visitor: Visitor) -> None:
    page = visitor.open()
    unfold(page)
    for facet, value in {
        "category": "context-managers",
        "status": "verified",
        "live": "2.13.0",
        "fix": "none",
        "note": "yes",
        "device": "cuda",
    }.items():
        expected = having(**{facet: value})
        option = page.locator(f"select[name={facet}] option[value='{value}']")
        assert (option.text_content() or "").endswith(f" ({len(expected)})")
        page.select_option(f"select[name={facet}]", value)
        counts(page, len(expected))
        page.get_by_role("button", name="Clear filters").click()
        at_rest(page)


def test_a_filter_goes_into_the_address_and_back_undoes_it(either_visitor: Visitor) -> None:
    page = either_visitor.open()
    unfold(page)
    page.fill(BOX, "tensor")
    page.select_option("select[name=category]", "context-managers")
    page.select_option("select[name=since]", "2.10.0")
    expect(page).to_have_url(re.compile(r"\?q=tensor&category=context-managers&since=ge:2\.10\.0$"))
    expect(page.get_by_role("button", name="Filters (2)")).to_be_visible()
    with_both = ids(page)
    page.select_option("select[name=since-sign]", "le")
    expect(page).to_have_url(re.compile(r"since=le:2\.10\.0$"))
    assert ids(page) != with_both
    page.go_back()
    expect(page.locator("select[name=since-sign]")).to_have_value("ge")
    assert ids(page) == with_both
    page.go_back()
    expect(page.locator("select[name=since]")).to_have_value("")
    page.go_back()
    expect(page.locator("select[name=category]")).to_have_value("")
    assert page.input_value(BOX) == "tensor"
    page.go_forward()
    expect(page.locator("select[name=category]")).to_have_value("context-managers")
    page.reload()
    expect(page.locator("select[name=category]")).to_have_value("context-managers")
    assert page.input_value(BOX) == "tensor"
    searched(page)


def test_back_from_a_break_restores_box_results_and_place(either_visitor: Visitor) -> None:
    page = either_visitor.open()
    unfold(page)
    page.fill(BOX, "tensor")
    page.select_option("select[name=status]", "verified")
    searched(page)
    found = page.inner_text("#count")
    page.click(".show-all")
    link = page.locator("ul.registry > li > a").nth(60)
    name = link.inner_text()
    link.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 1000
    link.click()
    expect(page).to_have_url(re.compile(rf"/gb/{name.lower()}\.html$"))
    page.go_back()
    expect(page.locator("#count")).to_have_text(found)
    assert page.input_value(BOX) == "tensor"
    assert page.locator("select[name=status]").input_value() == "verified"
    expect(page.locator("ul.registry > li > a").nth(60)).to_have_text(name)
    page.wait_for_function(f"() => Math.abs(scrollY - {place}) < 200")
    assert page.evaluate(FOCUSED) == name


def test_filters_without_a_control_are_chips_in_words(visitor: Visitor) -> None:
    page = visitor.open("?run=2.13.0+cpu+eager+verified&status=verified,reproduced&live=2.13.0&colour=red&retired=9.9")
    expect(page.locator("#chips li")).to_have_text(
        [
            "run: 2.13.0 cpu eager verified ×",
            "status: Verified fix or Reproduced ×",
            "colour: no such filter, ignored ×",
            "no longer emitted since torch: 9.9 (no such value) ×",
        ]
    )
    assert page.locator("select[name=live]").input_value() == "2.13.0"
    counts(page, 0)
    page.get_by_role("button", name="Remove the filter no longer emitted").click()
    page.get_by_role("button", name="Remove the filter colour").click()
    counts(page, len(having(run="2.13.0 cpu eager verified", status="verified,reproduced", live="2.13.0")))
    expect(page).to_have_url(
        re.compile(r"\?run=2\.13\.0\+cpu\+eager\+verified&status=verified,reproduced&live=2\.13\.0$")
    )
    page.locator("#filters-toggle").click()
    page.select_option("select[name=live]", "2.15.0")
    counts(page, len(having(run="2.13.0 cpu eager verified", status="verified,reproduced", live="2.15.0")))
    page.get_by_role("button", name="Clear filters").click()
    at_rest(page)
    assert page.locator("#chips li").count() == 0
    assert not page.url.partition("?")[2]


def test_the_quick_links_filter_in_place(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate("window.stayed = true")
    seen = having(seen="any")
    page.get_by_role("link", name=f"All {len(seen)} that we saw there").click()
    counts(page, len(seen))
    assert page.evaluate("window.stayed")
    page.get_by_role("link", name="new in torch 2.15.0").click()  # it names a torch, so the page begins anew
    counts(page, len(having(new="2.15.0")))
    page.go_back()
    counts(page, len(seen))
    page.go_back()
    at_rest(page)


def test_the_keyboard_alone_reaches_a_result(visitor: Visitor) -> None:
    page = visitor.open()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("generator")
    searched(page)
    shown = ids(page)
    for key, expected in [("ArrowDown", shown[0]), ("ArrowDown", shown[1]), ("ArrowUp", shown[0]), ("ArrowUp", "")]:
        page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == expected
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.type("s")
    assert page.input_value(BOX) == "generators"
    page.keyboard.press("Escape")
    assert page.input_value(BOX) == ""
    at_rest(page)
    page.keyboard.type("generator")
    expect(page.locator("ul.registry > li > a").first).to_have_text(shown[0])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/gb/{shown[1].lower()}\.html$"))


def test_tab_goes_from_the_top_through_the_box_and_the_filters_to_the_results(visitor: Visitor) -> None:
    page = visitor.open("?q=generator")
    searched(page)
    reached: list[str] = []
    named = "(({ activeElement: one }) => one.name || one.id || one.getAttribute('href'))(document)"
    while not (reached and reached[-1].startswith("gb/")) and len(reached) < 40:
        page.keyboard.press("Tab")
        reached.append(str(page.evaluate(named)))
        if reached[-1] == "filters-toggle":
            page.keyboard.press("Enter")
    selects = ["category", "status", "since-sign", "since", "live", "fix", "note", "device"]
    order = ["#content", "q", "paste.html", "filters-toggle", *selects]
    assert [one for one in reached if one in order] == order
    assert reached[-1].startswith("gb/")


def test_enter_opens_the_page_of_an_id_even_before_the_data_is_there(either_visitor: Visitor) -> None:
    gate = Gate()
    either_visitor.page.route("**/data/breaks.js", gate.pass_or_hold)
    page = either_visitor.open()
    page.locator(BOX).press_sequentially("170")
    page.keyboard.press("Enter")
    expect(page.locator("script[src$='data/breaks.js']")).to_have_count(1)
    gate.open()
    expect(page).to_have_url(re.compile(r"/gb/gb0170\.html$"))


@pytest.mark.parametrize(
    "text", ["GB0170", "gb170", "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"]
)
def test_enter_opens_the_page_of_an_id_in_any_spelling(visitor: Visitor, text: str) -> None:
    page = visitor.open()
    page.fill(BOX, text)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{visitor.address}gb/gb0170.html")


def test_enter_after_words_leads_to_the_first_result_and_opens_nothing(visitor: Visitor) -> None:
    page = visitor.open()
    page.fill(BOX, "data-dependent branching")
    page.keyboard.press("Enter")
    expect(page.locator("ul.registry > li > a").first).to_be_focused()
    assert ids(page)[0] == "GB0170"
    expect(page).to_have_url(f"{visitor.address}?q=data-dependent+branching")
    page.fill(BOX, "gb9999")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_be_visible()
    expect(page.locator(BOX)).to_be_focused()
    expect(page).to_have_url(f"{visitor.address}?q=gb9999")


@pytest.mark.parametrize("way", [0, 1])
def test_an_empty_result_says_what_to_try(visitor: Visitor, way: int) -> None:
    page = visitor.open("?q=nonzero&category=higher-order-operators&status=unreached")
    counts(page, 0)
    expect(page.locator(".empty p")).to_have_text("Nothing fits nonzero with these filters.")
    assert page.locator(".empty a").get_attribute("href") == "categories.html"
    promised = int(page.locator(".empty li").nth(way).inner_text().split()[-2])
    page.locator(".empty .way").nth(way).click()
    expect(page.locator(".empty")).to_have_count(0)
    assert rows(page).count() == promised
    expect(page.locator(BOX)).to_be_focused()


def test_rows_with_some_of_the_words_do_not_hide_what_the_filters_left_out(visitor: Visitor) -> None:
    page = visitor.open("?q=generator+nonzero&category=context-managers")
    expect(page.locator(".empty p")).to_have_text("Nothing fits generator nonzero with these filters.")
    assert ids(page)


def test_a_small_mistake_is_forgiven_and_said(visitor: Visitor) -> None:
    page = visitor.open("?q=genrator")
    expect(page.locator("#count")).to_contain_text("nothing says “genrator”, these say “generator”")
    assert ids(page)


@pytest.mark.parametrize("text", ["<svg onload=qqqq()>", "</q><svg onload=zzzz()>"])
def test_hostile_text_stays_text(visitor: Visitor, text: str) -> None:
    page = visitor.open()
    page.fill(BOX, text)
    expect(page.locator(".empty p")).to_contain_text(text)
    expect(page).to_have_url(re.compile(r"\?q="))
    page.goto(page.url + "&run=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E" + "&%3Cb%3E=1")
    expect(page.locator("#chips li")).to_have_text(
        ["run: <img src=x onerror=alert(1)> (no such value) ×", "<b>: no such filter, ignored ×"]
    )
    expect(page.locator(".empty p")).to_contain_text(text)
    assert page.locator("main :is(img, svg, script, b)").count() == 0


def test_hostile_data_are_shown_and_marked_as_text(visitor: Visitor) -> None:
    hostile = "<img src=x onerror=alert(1)> {{ x }} __init__"
    category = {"name": "category", "words": "<i>kind</i>", "values": ["k", "l"], "titles": ["<b>k</b>", "l"]}
    entry = {"id": "GB0001", "title": "a title", "old": [hostile], "fix": hostile, "facets": {"category": "1"}}
    message = {"id": "x", "title": hostile, "lead": hostile}
    give_data(visitor, facets=[category], breaks=[entry], messages=[message])
    page = visitor.open("?q=img+onerror")
    expect(page.locator(".row-old")).to_have_text(f"Old title: {hostile}")
    expect(page.locator(".row-fix")).to_have_text(f"Fix: {hostile}")
    assert page.evaluate(MARKED) == ["img", "onerror"] * 2
    expect(page.locator(".other-messages a")).to_have_text(hostile)
    expect(page.locator(".other-messages p")).to_have_text(hostile)
    page.goto(f"{visitor.address}?category=k,l")
    expect(page.locator("#chips li")).to_have_text("<i>kind</i>: <b>k</b> or l ×")
    assert page.locator("main :is(img, b, i)").count() == 0


def paste(page: Page, text: str) -> None:
    """What the browser tells a page when somebody pastes."""
    page.locator(BOX).evaluate(
        """(box, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          if (box.dispatchEvent(event)) {
            box.value = text.replace(/\\n/g, "");
            box.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }""",
        text,
    )


def test_a_pasted_log_is_read_here_and_leaves_no_trace_in_the_address(either_visitor: Visitor) -> None:
    page = either_visitor.open()
    paste(page, f"{LOOP}\nsecret")
    expect(page.locator("#count")).to_have_text("In the text that you pasted; it stays on this page", timeout=20_000)
    expect(page.locator("#results .found > li").first).to_contain_text("GB0025")
    link = page.locator("#results").get_by_role("link", name="GB7000")
    assert link.evaluate("link => link.href") == f"{either_visitor.address}gb/gb7000.html"
    expect(page.locator("ul.registry")).to_be_hidden()
    assert page.input_value(BOX) == ""
    assert not page.url.partition("?")[2]
    paste(page, "generator")
    searched(page)
    expect(rows(page).first).to_contain_text("enerator")
    expect(page.locator("#results *")).to_have_count(0)
    assert page.input_value(BOX) == "generator"


def test_a_log_in_the_address_is_read_and_leaves_it(visitor: Visitor) -> None:
    """The box in the header of every other page leads here with whatever was pasted into it."""
    page = visitor.open(f"?{urlencode({'q': ' '.join(LOOP.split())[:2000]})}")
    expect(page.locator("#results .found-id").first).to_be_visible(timeout=20_000)
    assert page.input_value(BOX) == ""
    assert not page.url.partition("?")[2]


@pytest.fixture
def without_reader(visitor: Visitor) -> Iterator[Visitor]:
    """The reader of logs can't be had; the browser itself complains about that, which is not the page's fault."""
    visitor.page.route("**/log-reader.js", lambda route: route.fulfill(status=404, body=""))
    yield visitor
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_without_the_reader_of_logs_a_pasted_text_is_searched_for(without_reader: Visitor) -> None:
    page = without_reader.open()
    paste(page, "Attempt to trace\n  generator")
    searched(page)
    expect(page.locator("ul.registry > li > a").first).to_have_text("GB0003")
    assert page.input_value(BOX) == "Attempt to trace generator"


def test_without_its_data_the_page_is_the_list(visitor: Visitor) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=404, body="")

    visitor.page.route("**/data/breaks.js", refuse)
    page = visitor.open("?q=generator")
    expect(page.locator("#count")).to_have_text("The search could not load its data. This is the whole list.")
    assert rows(page).count() == TOTAL
    assert page.input_value(BOX) == "generator"
    visitor.page.unroute("**/data/breaks.js")
    page.locator(BOX).press("End")
    page.locator(BOX).press_sequentially("s")
    searched(page)
    expect(rows(page).first).to_contain_text("enerator")
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_without_script_there_is_the_list_and_no_dead_control(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address)
        assert page.locator("ul.registry > li:visible").count() == TOTAL
        for control in page.locator("main :is(input, select, button)").all():
            assert control.is_hidden()
        visible = page.locator("main a:visible").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert [href for href in visible if not href.startswith("gb/")] == [
            "https://github.com/meta-pytorch/compile-graph-break-site/edit/main/templates/index.md.j2",
            "paste.html",
            "categories.html",
            "messages.html",
        ]


def test_nothing_moves_when_the_script_starts(visitor: Visitor) -> None:
    page = visitor.page
    page.add_init_script(SHIFTS)
    visitor.open()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("shifts") == 0


def test_nothing_is_stored(visitor: Visitor) -> None:
    page = visitor.open("?q=generator&status=verified")
    searched(page)
    assert ids(page)
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


def test_a_search_finds_messages_that_are_no_graph_breaks(visitor: Visitor) -> None:
    page = visitor.open("?q=cudagraphs")
    found = page.locator("#others .other-messages a")
    expect(found.first).to_be_visible()
    assert "messages/cudagraph-skipped.html" in [link.get_attribute("href") for link in found.all()]
    page.locator(BOX).fill("expression Eq(u0, 1)")
    expect(page.locator(".other-messages")).to_have_count(0)
    page.locator(BOX).fill("Could not guard on data-dependent expression Eq(u0, 1)")
    expect(page.locator("#results")).to_contain_text("Not graph breaks")


def test_filters_are_for_breaks_alone(visitor: Visitor) -> None:
    page = visitor.open("?q=recompile&status=verified")
    searched(page)
    assert ids(page)
    expect(page.locator(".other-messages")).to_have_count(0)
