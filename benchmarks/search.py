"""How well the search finds what people type, what home weighs, and how fast it answers a keystroke, in Chromium.

Queries are typed letter by letter; a keystroke ends when the page is laid out again. CPU is what script,
style and layout took of the page's own thread, wall what a clock on this machine says at this moment. The 10,000 ids,
and their rows in the page, are made up from the real ones.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import CDPSession, Page, Route  # noqa: E402

from sitegen.compact import data_script  # noqa: E402
from sitegen.preview import write_preview  # noqa: E402
from tests.search_queries import answers, mean_reciprocal_rank, queries  # noqa: E402
from tests.tools import chromium, json_of, served  # noqa: E402

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
PATIENCE = 120_000  # milliseconds: data of 10,000 ids take a while on their way through Playwright
TYPE = Path(__file__).with_suffix(".js").read_text()
DATA = "assets/data/breaks.js"
PARTS = re.compile(r'(?:href|src)="(assets/[^"]+\.(?:css|js))"')
ROW = re.compile(r'<li><a href="gb/[^"]+">(\w+)</a> — .*?</li>\n', re.DOTALL)


def main() -> None:
    """Print three tables."""
    print_quality()
    with built_preview() as site:
        print_weight(site)
        data = json.loads(json_of((site / DATA).read_text("utf-8")))
        home = (site / "index.html").read_text("utf-8")
        print("| ids | filters | keystrokes | CPU median, ms | CPU worst | wall median | wall worst |\n|" + "---|" * 7)
        with served(site) as address, chromium() as browser:
            for breaks, query in itertools.product((data["breaks"], made_up(data["breaks"])), ("", "?live=ge:2.9.0")):
                page = browser.new_page()
                page.set_default_timeout(PATIENCE)
                [script] = data_script("breaks", json.dumps({**data, "breaks": breaks})).values()
                page.route(f"**/{DATA}", partial(answer, text=script, content_type="text/javascript"))
                rows = partial(answer, text=with_rows(home, breaks), content_type="text/html")
                page.route(lambda url: urlsplit(url).path == "/", rows)
                cpu, wall = type_queries(page, f"{address}/{query}")
                medians = statistics.median(cpu), statistics.median(wall)
                figures = f"{medians[0]:.1f} | {max(cpu):.1f} | {medians[1]:.1f} | {max(wall):.1f}"
                print(f"| {len(breaks):,} | {1 if query else 0} | {len(cpu)} | {figures} |", flush=True)
                page.close()


def print_quality() -> None:
    """The held queries are those for whose sake nothing was added to the registry."""
    print("| queries | number | mean reciprocal rank | without an answer |\n|" + "---|" * 4)
    for held, name in ((True, "held"), (False, "others")):
        asked = [one for one in queries() if one.held is held]
        none = sum(not answers()[one] for one in asked)
        print(f"| {name} | {len(asked)} | {mean_reciprocal_rank(held=held):.3f} | {none} |")
    print()


def print_weight(site: Path) -> None:
    """Bytes of everything that the home page loads: the data last, when the browser has nothing else to do."""
    names = ["index.html", *PARTS.findall((site / "index.html").read_text("utf-8")), DATA]
    contents = {name: (site / name).read_bytes() for name in names}
    sizes = {name: (len(content), len(gzip.compress(content))) for name, content in contents.items()}
    print("| home | kB | kB with gzip |\n|---|---|---|")
    for name, (raw, packed) in {**sizes, "together": tuple(map(sum, zip(*sizes.values(), strict=True)))}.items():
        print(f"| {name} | {raw / 1000:.1f} | {packed / 1000:.1f} |")
    print()


def made_up(breaks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ids enough for a bad dream: real ones with the words of their titles in another order."""
    chance = random.Random(0)
    many = []
    for number, entry in enumerate(itertools.islice(itertools.cycle(breaks), MANY)):
        words = entry.get("title", "").split()
        title = " ".join(chance.sample(words, len(words)))
        many.append({**entry, "id": f"GB{number:04}", "title": title})
    return many


def with_rows(home: str, breaks: list[dict[str, Any]]) -> str:
    """The page with one row per break, whose words are those of a real one."""
    rows = list(ROW.finditer(home))
    made = (
        row[0].replace(row[1], entry["id"]).replace(row[1].lower(), entry["id"].lower())
        for entry, row in zip(breaks, itertools.cycle(rows), strict=False)
    )
    return home[: rows[0].start()] + "".join(made) + home[rows[-1].end() :]


def type_queries(page: Page, address: str) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU and of wall per keystroke, after one query that nobody counts."""
    page.goto(address)
    page.fill("input[type=search]", "warm")
    page.locator("#all", has_text="Results").wait_for()
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


def answer(route: Route, text: str, content_type: str) -> None:
    route.fulfill(body=text, content_type=f"{content_type}; charset=utf-8")


@contextmanager
def built_preview() -> Iterator[Path]:
    """docs/ built without Ruby."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "_site")
        write_preview(ROOT / "docs", site)
        yield site


if __name__ == "__main__":
    main()
