"""The home page in a browser: search, filters, the address, the keyboard, and no script at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from sitegen.facets import facets_of
from tests.browser.conftest import Visitor
from tests.committed import committed_registry

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

BOX = "input[type=search]"
TOTAL = len(committed_registry())

FINDINGS = """
export const findBreaks = async (text) => ({ lines: text.split("\\n").length });
export const renderFindings = (container, report) => container.append(`${report.lines} lines read`);
"""

SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifts += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def counts(page: Page, number: int) -> None:
    """Wait until the page says how many were found."""
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{number} of {TOTAL}\b"))


def ids(page: Page) -> list[str]:
    return page.locator("#results .result-id").all_text_contents()


def having(**facets: str) -> list[str]:
    """Python's own list for an address: facets ANDed, a comma for OR."""
    registry = [(gb.gb_id, facets_of(gb)) for gb in committed_registry()]
    return [
        gb_id
        for gb_id, has in registry
        if all(set(value.split(",")) & set(has.get(facet, ())) for facet, value in facets.items())
    ]


def test_a_message_with_its_values_filled_in_is_read_as_one(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_role("searchbox").fill("attempted to jump with TensorVariable()")
    expect(page.locator("#results .findings-here")).to_contain_text("GB0170")


def test_typing_finds_and_the_plain_list_comes_back(visitor: Visitor) -> None:
    page = visitor.open()
    assert page.locator("ul.registry li").count() == TOTAL
    assert page.inner_text("#count") == f"{TOTAL} graph breaks"
    page.locator(BOX).press_sequentially("gb170")
    expect(page.locator("#results li").first).to_contain_text("GB0170")
    assert page.locator("ul.registry").is_hidden()
    first = page.locator("#results li").first
    assert first.locator(".result-status").inner_text() == "Verified fix"
    assert first.locator(".result-kind").inner_text() == "Data-dependent control flow and dynamic shapes"
    assert first.locator(".result-releases").inner_text() == "2.8.0 – 2.15.0"
    page.fill(BOX, "")
    expect(page.locator("ul.registry")).to_be_visible()
    assert page.locator("#results *").count() == 0
    assert page.inner_text("#count") == f"{TOTAL} graph breaks"


def test_words_are_marked_and_an_old_wording_says_so(visitor: Visitor) -> None:
    page = visitor.open("?q=Generator")
    expect(page.locator("#results mark").first).to_have_text(re.compile("generator", re.IGNORECASE))
    gb, old = next(
        (gb, dated.revision.gb_type)
        for gb in committed_registry()
        for dated in gb.revisions[1:]
        if dated.revision.gb_type.lower() not in gb.gb_type.lower() and len(dated.revision.gb_type.split()) > 3
    )
    page.fill(BOX, old)
    found = page.locator("#results li", has_text=gb.gb_id).first
    expect(found.locator(".result-where")).to_contain_text("in an old wording")


def test_fifty_are_shown_and_the_rest_on_demand(visitor: Visitor) -> None:
    page = visitor.open("?live=2.15.0")
    expected = having(live="2.15.0")
    counts(page, len(expected))
    assert ids(page) == expected[:50]
    page.click(f"text=Show all {len(expected)}")
    assert ids(page) == expected
    assert page.evaluate("document.activeElement.textContent").startswith(expected[50])


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


def test_a_list_link_shows_what_python_counts(visitor: Visitor) -> None:
    page = visitor.open()
    for facets in FILTERS:
        expected = having(**facets)
        assert expected
        page.goto(
            visitor.address + "?" + "&".join(f"{name}={value}".replace(" ", "+") for name, value in facets.items())
        )
        counts(page, len(expected))
        assert ids(page) == expected[:50]


def test_a_filter_goes_into_the_address_and_back_undoes_it(visitor: Visitor) -> None:
    page = visitor.open()
    page.fill(BOX, "tensor")
    page.select_option("select[name=category]", "context-managers")
    page.select_option("select[name=since]", "2.10.0")
    expect(page).to_have_url(re.compile(r"\?q=tensor&category=context-managers&since=ge:2\.10\.0$"))
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


def test_back_from_a_break_restores_box_results_and_place(visitor: Visitor) -> None:
    page = visitor.open()
    page.fill(BOX, "tensor")
    page.select_option("select[name=status]", "verified")
    page.wait_for_selector("#results li")
    found = page.inner_text("#count")
    page.click(".show-all")
    link = page.locator("#results a").nth(60)
    name = link.locator(".result-id").inner_text()
    link.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 1000
    link.click()
    expect(page).to_have_url(re.compile(rf"/gb/{name.lower()}\.html$"))
    page.go_back()
    expect(page.locator("#count")).to_have_text(found)
    assert page.input_value(BOX) == "tensor"
    assert page.locator("select[name=status]").input_value() == "verified"
    expect(page.locator("#results a").nth(60).locator(".result-id")).to_have_text(name)
    page.wait_for_function(f"Math.abs(scrollY - {place}) < 200")
    assert page.evaluate("document.activeElement.textContent").startswith(name)


def test_filters_without_a_control_are_chips_in_words(visitor: Visitor) -> None:
    page = visitor.open("?run=2.13.0+cpu+eager+verified&status=verified,reproduced&live=2.13.0&colour=red&retired=9.9")
    expect(page.locator("#chips li")).to_have_text(
        [
            "run: 2.13.0 cpu eager verified ×",
            "status: Verified fix or Reproduced, no fix ×",
            "colour: no such filter, ignored ×",
            "no longer emitted since torch: 9.9 (no such value) ×",
        ]
    )
    assert page.locator("select[name=live]").input_value() == "2.13.0"
    counts(page, 0)
    page.get_by_role("button", name="Remove the filter no longer emitted").click()
    page.get_by_role("button", name="Remove the filter colour").click()
    counts(page, len(having(run="2.13.0 cpu eager verified", live="2.13.0")))
    expect(page).to_have_url(
        re.compile(r"\?run=2\.13\.0\+cpu\+eager\+verified&status=verified,reproduced&live=2\.13\.0$")
    )
    page.select_option("select[name=live]", "2.15.0")
    counts(page, len(having(run="2.13.0 cpu eager verified", live="2.15.0")))
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("ul.registry")).to_be_visible()
    assert page.locator("#chips li").count() == 0
    assert not page.url.partition("?")[2]


def test_the_quick_links_filter_in_place(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="new in torch 2.15.0").click()
    counts(page, len(having(new="2.15.0")))
    page.get_by_role("link", name="Higher-order operators").click()
    counts(page, len(having(category="higher-order-operators")))
    assert page.evaluate("window.stayed")
    page.go_back()
    counts(page, len(having(new="2.15.0")))


def test_the_keyboard_alone_reaches_a_result(visitor: Visitor) -> None:
    page = visitor.open()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("generator")
    page.wait_for_selector("#results li")
    focused = "document.activeElement.querySelector('.result-id')?.textContent"
    shown = ids(page)
    for key, expected in [("ArrowDown", shown[0]), ("ArrowDown", shown[1]), ("ArrowUp", shown[0]), ("ArrowUp", None)]:
        page.keyboard.press(key)
        assert page.evaluate(focused) == expected
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.type("s")
    assert page.input_value(BOX) == "generators"
    page.keyboard.press("Escape")
    assert page.input_value(BOX) == ""
    expect(page.locator("ul.registry")).to_be_visible()
    page.keyboard.type("generator")
    expect(page.locator("#results .result-id").first).to_have_text(shown[0])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/gb/{shown[1].lower()}\.html$"))


def test_tab_goes_from_the_top_through_the_box_and_the_filters_to_the_results(visitor: Visitor) -> None:
    page = visitor.open("?q=generator")
    page.wait_for_selector("#results li")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name || document.activeElement.getAttribute('href')"))
        if str(reached[-1]).startswith("gb/"):
            break
    order = [
        "#content",
        "q",
        "paste.html",
        "category",
        "status",
        "since-sign",
        "since",
        "live",
        "fix",
        "note",
        "device",
    ]
    assert [one for one in reached if one in order] == order
    assert str(reached[-1]).startswith("gb/")


def test_enter_opens_the_best_result_even_before_the_data_is_there(visitor: Visitor) -> None:
    held: list[Route] = []
    visitor.page.route("**/breaks.json", lambda route: held.append(route))  # Playwright takes no built-in method
    page = visitor.open()
    page.locator(BOX).press_sequentially("170")
    page.keyboard.press("Enter")
    for route in held:
        route.continue_()
    expect(page).to_have_url(re.compile(r"/gb/gb0170\.html$"))


def test_an_empty_result_says_what_to_try(visitor: Visitor) -> None:
    page = visitor.open("?q=generator&category=context-managers&status=open")
    counts(page, 0)
    assert page.inner_text(".empty p") == "Nothing found for generator with these filters."
    way = page.locator(".empty .way").first
    promised = page.locator(".empty li").first.inner_text().split()[-2]
    assert page.locator(".empty a").get_attribute("href") == "paste.html"
    way.click()
    counts(page, int(promised))
    assert page.locator("#results li").count() == int(promised)


def test_a_small_mistake_is_forgiven_and_said(visitor: Visitor) -> None:
    page = visitor.open("?q=genrator")
    expect(page.locator("#count")).to_contain_text("nothing says “genrator”, these say “generator”")
    assert ids(page)


@pytest.mark.parametrize("text", ['<img src=x onerror="document.title=1">', "</q><script>document.title=1</script>"])
def test_hostile_text_stays_text(visitor: Visitor, text: str) -> None:
    page = visitor.open()
    title = page.title()
    page.fill(BOX, text)
    page.wait_for_selector(".empty")
    assert text in page.inner_text(".empty p")
    expect(page).to_have_url(re.compile(r"\?q="))
    page.goto(page.url + "&run=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E" + "&%3Cb%3E=1")
    expect(page.locator("#chips li")).to_have_text(
        ["run: <img src=x onerror=alert(1)> (no such value) ×", "<b>: no such filter, ignored ×"]
    )
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title() == title


def test_a_hostile_title_is_shown_and_marked_as_text(visitor: Visitor) -> None:
    title = "<img src=x onerror=alert(1)> {{ x }} __init__"
    facet = {"name": "category", "words": "kind", "values": ["k"], "titles": ["<b>k</b>"]}
    entry = {"id": "GB0001", "title": title, "text": [title], "facets": {"category": "1"}}
    more: list[dict[str, object]] = [
        {"name": name, "words": name, "values": []} for name in ("status", "live", "registered")
    ]
    data = json.dumps({"schema": 1, "facets": [facet, *more], "breaks": [entry], "messages": []})
    visitor.page.route("**/breaks.json", lambda route: route.fulfill(body=data, content_type="application/json"))
    page = visitor.open("?q=img+onerror")
    expect(page.locator(".result-title")).to_have_text(title)
    assert page.locator(".result-title mark").all_inner_texts() == ["img", "onerror"]
    assert page.inner_text(".result-kind") == "<b>k</b>"
    assert page.locator("main img, main b").count() == 0


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


def test_a_pasted_log_is_read_here_and_leaves_no_trace_in_the_address(visitor: Visitor) -> None:
    visitor.page.route("**/findings.js", lambda route: route.fulfill(body=FINDINGS, content_type="text/javascript"))
    page = visitor.open()
    paste(page, "a line\nanother\nsecret")
    expect(page.locator("#results")).to_have_text("3 lines read")
    assert page.locator("ul.registry").is_hidden()
    assert "secret" not in page.url
    paste(page, "generator")
    counts(page, len(ids(page)))
    assert page.input_value(BOX) == "generator"


@pytest.fixture
def without_findings(visitor: Visitor) -> Iterator[Visitor]:
    """The reader of logs can't be had; the browser itself complains about that, which is not the page's fault."""
    visitor.page.route("**/findings.js", lambda route: route.fulfill(status=404, body=""))
    yield visitor
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_without_the_reader_of_logs_a_pasted_text_is_searched_for(without_findings: Visitor) -> None:
    page = without_findings.open()
    paste(page, "Attempt to trace\n  generator")
    expect(page.locator("#results .result-id").first).to_have_text("GB0003")
    assert page.input_value(BOX) == "Attempt to trace generator"


def test_without_its_data_the_page_is_the_list(visitor: Visitor) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=404, body="")

    visitor.page.route("**/breaks.json", refuse)
    page = visitor.open("?q=generator")
    expect(page.locator("#count")).to_have_text("The search could not load its data. This is the whole list.")
    assert page.locator("ul.registry").is_visible()
    assert page.input_value(BOX) == "generator"
    visitor.page.unroute("**/breaks.json")
    page.locator(BOX).press("End")
    page.locator(BOX).press_sequentially("s")
    counts(page, len(ids(page)))
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_without_script_there_is_the_list_and_no_dead_control(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address)
        assert page.locator("ul.registry li:visible").count() == TOTAL
        for control in page.locator("main :is(input, select, button)").all():
            assert control.is_hidden()
        visible = page.locator("main a:visible").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert [href for href in visible if not href.startswith("gb/")] == [
            "paste.html",
            "categories.html",
            "messages.html",
            "dashboard.html",
        ]


def test_nothing_moves_when_the_script_starts(visitor: Visitor) -> None:
    page = visitor.page
    page.add_init_script(SHIFTS)
    visitor.open()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("shifts") == 0


def test_nothing_is_stored(visitor: Visitor) -> None:
    page = visitor.open("?q=generator&status=verified")
    page.locator("#results .result-id").first.wait_for()
    counts(page, len(ids(page)))
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


def test_a_search_finds_messages_that_are_no_graph_breaks(visitor: Visitor) -> None:
    page = visitor.open("?q=cudagraphs")
    found = page.locator(".other-messages a")
    expect(found.first).to_be_visible()
    assert "messages/cudagraph-skipped.html" in [link.get_attribute("href") for link in found.all()]
    page.locator(BOX).fill("expression Eq(u0, 1)")
    expect(page.locator(".other-messages")).to_have_count(0)
    page.locator(BOX).fill("Could not guard on data-dependent expression Eq(u0, 1)")
    expect(page.locator("#results")).to_contain_text("Not graph breaks")


def test_filters_are_for_breaks_alone(visitor: Visitor) -> None:
    page = visitor.open("?q=recompile&status=verified")
    expect(page.locator("#results .result-id").first).to_be_visible()
    expect(page.locator(".other-messages")).to_have_count(0)
