"""How fast the paste box reads logs of 10 MB in a real Chromium: worker, transfer and report included.

Seconds of this machine and this moment, in one run; the same logs read by Python are what to compare with.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from matching import MEGABYTES, MESSAGE, record, repeat  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from search import built_preview  # noqa: E402

from registry.knowledge import read_knowledge  # noqa: E402
from registry.matching import Matcher  # noqa: E402
from registry.merge import merge_registry  # noqa: E402
from registry.snapshot import read_snapshot  # noqa: E402
from tests.tools import chromium, served  # noqa: E402

TIMES = 3
WATCH = """
globalThis.answers = []; // [milliseconds, messages] of each text that the page's worker has read
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    const note = ({ data: { report } }) => answers.push([performance.now() - this.asked, report.messages]);
    this.addEventListener("message", note);
  }
  postMessage(message) {
    this.asked = performance.now();
    super.postMessage(message);
  }
};
"""
PASTE = """(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.querySelector("textarea").dispatchEvent(event);
}"""


def main() -> None:
    """Print a table."""
    matcher = _matcher()
    print("| 10 MB | messages | Chromium, s | Python, s | ratio |\n|---|---|---|---|---|")
    with built_preview() as site, served(site) as address, chromium() as browser:
        for name, text in _logs():
            page = browser.new_page()
            page.add_init_script(WATCH)
            page.goto(f"{address}/paste.html")
            milliseconds, messages = _read_in(page, text)
            page.close()
            python = _seconds_in_python(matcher, text)
            in_page = milliseconds / 1000
            print(f"| {name} | {messages:,} | {in_page:.2f} | {python:.2f} | {in_page / python:.2f} |", flush=True)
        _print_whole_page(browser.new_page(), address)


def _read_in(page: Page, text: str) -> tuple[float, int]:
    """Milliseconds from the page's question to its worker's answer, the median; and how many messages that has."""
    for number in range(1, TIMES + 1):
        page.evaluate(PASTE, text)
        page.wait_for_function("(number) => answers.length === number", arg=number, timeout=120_000)
    answers: list[tuple[float, int]] = page.evaluate("answers")
    return sorted(answers)[TIMES // 2]


def _logs() -> Iterator[tuple[str, str]]:
    compiler = "%{} = stablehlo.add %3, %4 : tensor<32x32xbf16> loc(#loc5)"
    yield "compiler text, no break", "".join(repeat(lambda number: [compiler.format(number)]))
    sparse = repeat(lambda number: record(number, MESSAGE) + ["step 12 loss 0.123 lr 1e-4"] * 1000)
    yield "one message in 1000 lines", "".join(sparse)
    dense = "".join(repeat(lambda number: record(number, MESSAGE)))
    yield "messages only", dense
    yield "the same without links", "\n".join(line for line in dense.split("\n") if "/gb/" not in line)
    unknown = repeat(lambda number: record(number, (f"Graph Break Reason: new {number}", *MESSAGE[2:6])))
    yield "unknown types", "".join(unknown)
    distinct = repeat(
        lambda number: record(number, (f"new {number}", f"  Explanation: so {number} it is", *MESSAGE[3:6]))
    )
    yield "nothing known, all different", "".join(distinct)
    yield "a log as one JSON string", json.dumps(dense)
    yield "one line, carriage returns", dense.replace("\n", "\r")
    for name, word in {
        "one line of links": "/gb/gb0170.html ",
        "one line of markers": "torch._dynamo.exc.Unsupported: ",
        "one line of spaces": "          ",
        "one line, no space": "x",
    }.items():
        line = word * int(MEGABYTES * 1e6 / len(word))
        yield f"{name}, as an explanation", f"Unsupported: t\n  Explanation: {line}\n\n  Developer debug context: c"
        yield f"{name}, outside a message", f"  {line}."  # a page reads no blank text


def _print_whole_page(page: Page, address: str) -> None:
    """From choosing a file to the list of findings."""
    text = "".join(repeat(lambda number: record(number, MESSAGE)))
    page.goto(f"{address}/paste.html")
    page.set_input_files("input[type=file]", {"name": "a.log", "mimeType": "text/plain", "buffer": b"warm up"})
    page.locator("#paste-status", has_text="found").wait_for()
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        log.write(text)
        log.flush()
        started = time.perf_counter()
        page.set_input_files("input[type=file]", log.name)
        page.locator("#paste-status", has_text="1 graph break").wait_for()
        took = time.perf_counter() - started
    print(f"\nA file of messages only, from choosing it to the list on the page: {took:.2f} s.")


def _matcher() -> Matcher:
    snapshot = read_snapshot(ROOT / "registry" / "snapshot")
    known = read_knowledge(
        ROOT / "registry", wordings=snapshot.wordings, origin=snapshot.origin, superseded=snapshot.superseded
    )
    return Matcher.from_registry(merge_registry(known))


def _seconds_in_python(matcher: Matcher, text: str) -> float:
    started = time.perf_counter()
    for _ in matcher.find_messages(text.split("\n")):
        pass
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
