"""The paste page as a visitor uses it: paste, choose, drop, look, clear; and nothing leaves the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Page, Route, Worker, expect

from tests.browser.conftest import Visitor
from tests.registry.test_matching import HEADER, ITEM, LINK
from tests.tools import BASE

pytestmark = [pytest.mark.browser, pytest.mark.jekyll]

LOGS = Path(__file__).parent / "fixtures"
RECORDED = Path(__file__).parents[1] / "repro_runner" / "fixtures" / "recorded_logs"
LOOP = (LOGS / "loop.log").read_text("utf-8")
FULLGRAPH = (LOGS / "fullgraph.log").read_text("utf-8")
PUBLISHED = f"https://meta-pytorch.github.io{BASE}/"
UNKNOWN = "Brand new\n  Explanation: unheard of\n\n  Developer debug context: c\n"

PASTE = """(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.querySelector("textarea").dispatchEvent(event);
}"""
COUNT_ANSWERS = """
globalThis.answers = 0;
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", () => { answers += 1; });
  }
};
"""
DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  const form = document.querySelector("#paste");
  for (const type of ["dragover", "drop"]) {
    form.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""


def opened(visitor: Visitor) -> Page:
    return visitor.open("paste.html")


def says(page: Page, words: str) -> None:
    """Wait until the status line holds these words."""
    expect(page.get_by_role("status")).to_contain_text(words, timeout=20_000)


def ids(page: Page) -> list[str]:
    return page.locator("#paste-findings .found-id").all_text_contents()


def choose_file(page: Page, name: str, content: bytes) -> None:
    page.get_by_label("Choose a file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


def test_a_pasted_traceback_names_its_break_and_leads_to_its_page(either_visitor: Visitor) -> None:
    page = opened(either_visitor)
    page.get_by_label("Traceback or log").fill(FULLGRAPH)
    says(page, "1 graph break found, in 1 message; ")
    item = page.locator(".found > li")
    expect(item).to_contain_text("Data-dependent branching")
    expect(item).to_contain_text("Verified fix")
    expect(item).to_contain_text("Recognised by its link.")
    expect(item).to_contain_text("once on line 8")
    expect(item.locator(".found-places")).to_have_text("/home/user/model.py:13")
    page.get_by_role("link", name="GB0170").click()
    expect(page).to_have_url(re.compile(r"/gb/gb0170\.html$"))
    expect(page.locator("#gb0170")).to_be_visible()


def test_a_break_comes_with_the_users_line_and_the_first_fix_that_fits(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill((RECORDED / "graph_breaks-2.13.0.log").read_text("utf-8"))
    says(page, "7 graph breaks found")
    item = page.locator(".found > li", has_text="Unsupported Tensor.item() call")
    expect(item.locator(".found-source")).to_have_text("return x + x.sum().item()")
    expect(item.locator(".found-try").first).to_contain_text("Fix Use this when the number goes back into tensor")
    expect(item.locator(".found-code").first).to_contain_text("peak = x.abs().max()")


def test_what_is_no_graph_break_is_said_to_be_none_and_leads_to_its_page(visitor: Visitor) -> None:
    page = opened(visitor)
    box = page.get_by_label("Traceback or log")
    box.fill("[0/1] [__recompiles] Recompiling function step in /home/user/train.py:12\n")
    says(page, "1 message that is not a graph break found")
    expect(page.locator("#paste-findings")).to_contain_text("Not graph breaks")
    expect(page.locator("#paste-findings")).not_to_contain_text("Breaks in this text")
    page.get_by_role("link", name="A function was compiled again").click()
    expect(page).to_have_url(re.compile(r"/messages/recompiles\.html$"))


def test_a_warning_with_no_flag_set_is_answered_by_its_reason(visitor: Visitor) -> None:
    page = opened(visitor)
    reason = "0/7: tensor 'x' size mismatch at index 0"
    said = f"torch._dynamo hit config.recompile_limit (8)\n   function: 'f' (a.py:3)\n   last reason: {reason}"
    page.get_by_label("Traceback or log").fill(said)
    says(page, "1 graph break found")
    item = page.locator(".found > li")
    expect(item).to_contain_text("GB0039")
    expect(item.locator(".found-try")).to_contain_text("dynamic=True")
    expect(item.locator(".found-places")).to_have_text("a.py:3")


def test_a_line_of_many_breaks_names_none(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill(
        "  Hint: This is likely to be a Dynamo bug. Please report an issue to PyTorch."
    )
    says(page, "torch prints this line for many breaks. Paste the lines above it, too.")
    assert ids(page) == []


def test_findings_are_copied_as_markdown_with_links_to_the_published_site(either_visitor: Visitor) -> None:
    page = opened(either_visitor)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Traceback or log").fill(FULLGRAPH)
    says(page, "found")
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"### [GB0170]({PUBLISHED}gb/gb0170.html)")
    assert "At `/home/user/model.py:13`" in copied
    assert "```python\n" in copied
    assert "Data-dependent branching" in copied


def test_a_break_in_a_loop_is_shown_below_its_cause(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill(LOOP)
    says(page, "found")
    chain = page.locator(".found > li", has_text="surfaced as")
    expect(chain.locator(".found-id")).to_have_text(["GB0025", "GB7000"])
    expect(chain.locator(".found-role")).to_have_text(["cause", "surfaced as"])


def test_the_example_fills_the_box_and_clear_empties_everything(either_visitor: Visitor) -> None:
    page = opened(either_visitor)
    page.get_by_role("button", name="Show an example").click()
    says(page, "5 graph breaks found")
    box = page.get_by_label("Traceback or log")
    expect(box).to_have_value(re.compile("Graph Break Reason"))
    assert ids(page) == ["GB0124", "GB0170", "GB0059", "GB0025", "GB0025", "GB7000"]
    page.get_by_role("button", name="Clear").click()
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("")
    expect(page.locator("#paste-findings")).to_be_empty()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_chosen_file_is_read_and_may_be_chosen_again(visitor: Visitor, encoding: str) -> None:
    page = opened(visitor)
    for _ in range(2):
        choose_file(page, "breaks.log", FULLGRAPH.encode(encoding))
        says(page, "1 graph break found")
        assert ids(page) == ["GB0170"]
        expect(page.get_by_label("Choose a file")).to_have_value("")  # else the same file would be no change
        page.get_by_role("button", name="Clear").click()
        expect(page.locator("#paste-findings")).to_be_empty()


def test_a_dropped_file_is_read(visitor: Visitor) -> None:
    page = opened(visitor)
    page.evaluate(DROP, ["loop.log", LOOP])
    says(page, "found")
    assert "GB7000" in ids(page)
    expect(page.locator("#paste")).not_to_have_class(re.compile("dropping"))


def test_typing_goes_on_and_the_newest_text_wins(visitor: Visitor) -> None:
    page = opened(visitor)
    box = page.get_by_label("Traceback or log")
    box.press_sequentially("Data-dependent branchin")
    says(page, "No graph break found")
    box.press_sequentially("g")
    says(page, "1 graph break found")
    page.evaluate(PASTE, LOOP * 200)
    box.fill("Call to `torch._dynamo.graph_break()`")
    says(page, "1 graph break found, in 1 message; 1 line")
    assert ids(page) == ["GB0025"]


def test_what_was_cleared_while_it_was_read_does_not_come_back(visitor: Visitor) -> None:
    visitor.page.add_init_script(COUNT_ANSWERS)
    page = opened(visitor)
    page.evaluate(PASTE, LOOP * 400)
    page.get_by_role("button", name="Clear").click()  # the box gets the focus, for which the page reads once more
    page.wait_for_function("() => answers === 2")
    expect(page.locator("#paste-findings")).to_be_empty()
    expect(page.get_by_role("status")).to_have_text("")


def test_ten_megabytes_in_a_file_are_read_to_the_end_in_a_worker(either_visitor: Visitor, tmp_path: Path) -> None:
    workers: list[Worker] = []
    either_visitor.page.on("worker", lambda worker: workers.append(worker))
    page = opened(either_visitor)
    noise = "step 12 loss 0.123 lr 1e-4\n" * 400
    block = "".join(f"{HEADER}{line}\n" for line in (ITEM + LINK).split("\n")) + noise
    blocks = int(10e6 / len(block)) + 1
    (tmp_path / "train.log").write_text(block * blocks + FULLGRAPH, "utf-8")
    page.get_by_label("Choose a file").set_input_files(tmp_path / "train.log")
    says(page, f"2 graph breaks found, in {blocks + 1:,} messages")
    assert ids(page) == ["GB0124", "GB0170"]
    assert [worker.url.partition(":")[0] for worker in workers] == ["blob"]
    expect(page.get_by_label("Traceback or log")).to_have_value("")
    expect(page.get_by_role("note")).to_contain_text("train.log (9.")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("note")).to_be_hidden()


def test_ten_megabytes_pasted_as_one_line_are_read_to_the_end(visitor: Visitor) -> None:
    page = opened(visitor)
    links = "x" * 5_000_000 + " /gb/gb0124.html " + "y" * 5_000_000 + " /gb/gb0170.html"
    page.evaluate(PASTE, links)
    says(page, "2 graph breaks found, in 2 messages; 1 line read.")
    assert ids(page) == ["GB0124", "GB0170"]


def test_many_places_are_folded_and_none_is_lost(visitor: Visitor) -> None:
    page = opened(visitor)
    blocks = [f"Graph break in user code at /home/user/a.py:{number}\n{ITEM}{LINK}\n" for number in range(1, 121)]
    page.evaluate(PASTE, "".join(blocks) + blocks[6])
    says(page, "1 graph break found, in 121 messages")
    places = page.locator(".found-places li")
    expect(places).to_have_count(5)
    expect(places.first).to_have_text("/home/user/a.py:7 2 times")
    page.get_by_text("and 115 more").click()
    page.get_by_role("button", name="Show 50 more of 115").click()
    page.get_by_role("button", name="Show 15 more of 115").click()
    expect(places).to_have_count(120)


def test_messages_that_nobody_knows_are_shown_whole_and_none_is_dropped(visitor: Visitor) -> None:
    page = opened(visitor)
    texts = [UNKNOWN.replace("new", f"new {number}") for number in range(70)]
    page.evaluate(PASTE, "\nx\n".join([*texts, texts[3]]))
    says(page, "70 messages that we do not recognise found, in 71 messages")
    shown = page.locator(".found-text")
    expect(shown).to_have_count(50)
    expect(shown.first).to_have_text(texts[3].strip())
    page.get_by_role("button", name="Show 20 more of 70").click()
    expect(shown).to_have_count(70)
    expect(shown.nth(50)).to_be_focused()


def test_the_rest_of_a_very_long_message_is_shown_when_asked_for(visitor: Visitor) -> None:
    page = opened(visitor)
    page.evaluate(PASTE, UNKNOWN.replace("unheard", "un" * 30_000))
    says(page, "1 message that we do not recognise found")
    page.get_by_role("button", name="Show the other").click()
    assert "un" * 30_000 in (page.locator(".found-text").text_content() or "")


def test_a_wording_of_several_breaks_lists_them_as_candidates(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill("Object does not allow us to make a weakref to it")
    says(page, "1 graph break found")
    expect(page.locator(".found > li")).to_contain_text("likeliest first: its wording fits them all")
    assert {"GB0276", "GB0272"} <= set(ids(page))


HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script><a href='javascript:alert(3)'>a</a>",
    "javascript:alert(1)//",
    "</pre></li><svg onload=alert(1)>",
)


def test_hostile_text_stays_text(visitor: Visitor) -> None:
    page = opened(visitor)
    dialogs: list[Dialog] = []  # one that nobody answers would stop the page, and this test with it
    page.on("dialog", lambda dialog: dialogs.append(dialog))
    text = "\n".join(
        f"Graph break in user code at {bad}:1\n{UNKNOWN.replace('unheard of', bad)}\n\n"
        f"Graph break in user code at {bad}:2\n{ITEM.replace('Second hint', bad)}{LINK}"
        for bad in HOSTILE
    )
    page.get_by_label("Traceback or log").fill(text)
    says(page, "1 graph break and 3 messages that we do not recognise found")
    for summary in page.locator("#paste-findings summary").all():
        summary.click()
    shown = page.locator("#paste-findings").text_content() or ""
    assert all(bad in shown for bad in HOSTILE)
    inside = page.locator("#paste-findings").locator("img, script, svg, iframe, a:not([href*='/gb/gb'])")
    expect(inside).to_have_count(0)
    choose_file(page, "<img src=x onerror=alert(1)>.log", b"x" * 300_000)
    expect(page.get_by_role("note")).to_contain_text("<img src=x onerror=alert(1)>.log")
    expect(page.get_by_role("note").locator("img")).to_have_count(0)
    assert dialogs == []


def test_a_text_without_a_break_says_what_to_try(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill("ValueError: not ours")
    says(page, "No graph break found; 1 line read.")
    findings = page.locator("#paste-findings")
    expect(findings).to_contain_text("TORCH_LOGS=graph_breaks python train.py")
    findings.get_by_role("link", name="Search the registry").click()
    expect(page.locator("#graph-breaks")).to_be_visible()


def test_nothing_is_sent_and_nothing_is_stored(either_visitor: Visitor) -> None:
    visitor, page = either_visitor, either_visitor.page
    requests: list[tuple[str, str]] = []
    page.on("request", lambda one: requests.append((one.method, one.url.removeprefix(visitor.address))))
    opened(visitor)
    page.get_by_label("Traceback or log").fill(FULLGRAPH)
    says(page, "1 graph break found")
    page.get_by_role("button", name="Show an example").click()
    says(page, "5 graph breaks found")
    assert {method for method, _ in requests} == {"GET"}
    paths = {path for _, path in requests if not path.startswith("blob:")}
    assert {"assets/js/log-reader.js", "assets/data/wordings.js", "assets/data/example.js"} <= paths
    assert all(re.fullmatch(r"paste\.html|assets/[a-z/-]+\.(js|css|svg)", path) for path in paths), paths
    assert page.context.cookies() == []
    stored = "async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]"
    assert page.evaluate(stored) == [0, 0, 0]
    page.reload()
    expect(page.get_by_label("Traceback or log")).to_have_value("")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("delete globalThis.Worker", id="no workers"),
        pytest.param("globalThis.Worker = class { constructor() { throw new Error('no'); } }", id="refused"),
        pytest.param(
            """globalThis.Worker = class extends Worker {
              constructor() { super(URL.createObjectURL(new Blob(["throw 'it does not start'"]))); }
            }""",
            id="it does not start",
        ),
    ],
)
def test_without_a_worker_the_page_reads_by_itself(visitor: Visitor, fault: str) -> None:
    visitor.page.add_init_script(fault)
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill(FULLGRAPH)
    says(page, "1 graph break found")
    assert ids(page) == ["GB0170"]
    visitor.faults = [fault for fault in visitor.faults if "it does not start" not in fault]


def test_when_the_wordings_cannot_be_loaded_the_page_says_so_and_the_next_attempt_works(visitor: Visitor) -> None:
    def refuse(route: Route) -> None:
        route.abort()

    visitor.page.route("**/wordings.js", refuse)
    page = opened(visitor)
    box = page.get_by_label("Traceback or log")
    box.fill(FULLGRAPH)
    says(page, "could not be loaded")
    page.unroute("**/wordings.js", refuse)
    box.fill(FULLGRAPH + "\n")
    says(page, "1 graph break found")
    visitor.faults = [fault for fault in visitor.faults if "ERR_FAILED" not in fault]


def test_the_findings_are_accessible_in_light_and_dark(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill(LOOP + "\n\n" + UNKNOWN)
    says(page, "we do not recognise")
    page.emulate_media(color_scheme="light")
    problems = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    problems += Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in problems] == []


def test_the_keyboard_reaches_every_control(visitor: Visitor) -> None:
    page = opened(visitor)
    page.get_by_label("Traceback or log").focus()
    reached = []
    for _ in range(4):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.type"))
        page.keyboard.press("Tab")
    assert reached == ["paste-text", "file", "paste-example", "paste-clear"]


def test_without_script_there_are_no_dead_controls_and_the_way_by_hand_is_shown(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}paste.html")
        expect(page.locator(".paste-by-hand")).to_contain_text("needs JavaScript")
        expect(page.locator(".paste-by-hand")).to_be_visible()
        expect(page.get_by_role("heading", name="How to get a log")).to_be_visible()
        expect(page.locator("textarea, button, input[type=file]").filter(visible=True)).to_have_count(0)
        page.get_by_role("link", name="registry", exact=True).click()
        expect(page.locator("#graph-breaks")).to_be_visible()


def test_the_page_fits_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 360, "height": 800})
    page = opened(visitor)
    page.get_by_label("Traceback or log").fill(LOOP + "\n\n" + UNKNOWN)
    says(page, "we do not recognise")
    too_wide = "() => [...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > 361)"
    assert page.evaluate(f"({too_wide})().filter(one => !one.closest('pre')).map(one => one.outerHTML)") == []
