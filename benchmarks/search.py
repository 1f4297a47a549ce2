"""How fast the home page answers a keystroke: search, filters and DOM, in Chromium.

Queries are typed letter by letter; a keystroke ends when the page is laid out again. CPU is what script,
style and layout took of the page's own thread, wall what a clock on this machine says at this moment. The 10,000 ids
are made up from the real ones.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import CDPSession, Page, Route  # noqa: E402

from sitegen.preview import write_preview  # noqa: E402
from tests.tools import chromium, served  # noqa: E402

QUERIES = (
    "GB0170",
    "generator",
    "data-dependent branching",
    "torch.cond with a tensor",
    "mutation of attribute on object",
    "genrator",
    "nothing at all qqqq",
)
MANY = 10_000
TYPE = Path(__file__).with_suffix(".js").read_text()


def main() -> None:
    """Print one table."""
    data = json.loads((ROOT / "docs/assets/data/breaks.json").read_bytes())
    packed = len(gzip.compress((ROOT / "docs/assets/data/breaks.json").read_bytes())) / 1000
    print(f"assets/data/breaks.json: {packed:.0f} kB with gzip\n")
    print("| ids | filters | keystrokes | CPU median, ms | CPU worst | wall median | wall worst |\n|" + "---|" * 7)
    with served_preview() as address, chromium() as browser:
        for breaks, query in itertools.product((data["breaks"], made_up(data["breaks"])), ("", "?live=ge:2.9.0")):
            page = browser.new_page()
            page.route("**/breaks.json", partial(answer, text=json.dumps({**data, "breaks": breaks})))
            cpu, wall = type_queries(page, address + query)
            figures = f"{statistics.median(cpu):.1f} | {max(cpu):.1f} | {statistics.median(wall):.1f} | {max(wall):.1f}"
            print(f"| {len(breaks):,} | {1 if query else 0} | {len(cpu)} | {figures} |")
            page.close()


def made_up(breaks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ids enough for a bad dream: real ones with the words of their titles in another order."""
    chance = random.Random(0)
    many = []
    for number, entry in enumerate(itertools.islice(itertools.cycle(breaks), MANY)):
        words = entry.get("title", "").split()
        title = " ".join(chance.sample(words, len(words)))
        many.append({**entry, "id": f"GB{number:04}", "title": title})
    return many


def type_queries(page: Page, address: str) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU and of wall per keystroke, after one query that nobody counts."""
    page.goto(address)
    page.fill("input[type=search]", "warm")
    page.wait_for_selector("#results li")
    page.wait_for_load_state("networkidle")
    thread = page.context.new_cdp_session(page)
    thread.send("Performance.enable", {"timeDomain": "threadTicks"})
    cpu, wall = [], []
    for query in QUERIES:
        for length in range(1, len(query) + 1):
            before = cpu_seconds(thread)
            wall.append(page.evaluate(TYPE, query[:length]))
            cpu.append(1000 * (cpu_seconds(thread) - before))
    return cpu, wall


def cpu_seconds(thread: CDPSession) -> float:
    metrics = {one["name"]: one["value"] for one in thread.send("Performance.getMetrics")["metrics"]}
    return float(sum(metrics[name] for name in ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")))


def answer(route: Route, text: str) -> None:
    route.fulfill(body=text, content_type="application/json")


@contextmanager
def served_preview() -> Iterator[str]:
    """docs/ built without Ruby, on loopback."""
    with tempfile.TemporaryDirectory() as folder:
        write_preview(ROOT / "docs", Path(folder, "_site"))
        with served(Path(folder, "_site")) as address:
            yield f"{address}/"


if __name__ == "__main__":
    main()
