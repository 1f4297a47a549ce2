"""What a page costs its reader, and the site its builder: bytes, scripting, and Jekyll against bare pages.

Milliseconds are of this machine and this moment; bytes are not.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import BrowserContext

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.tools import build_with_jekyll, chromium, served  # noqa: E402

BARE = (
    "# A title\n\nOne paragraph of text.\n\n## Context\n\ntext\n\n## Explanation\n\ntext\n\n## Hints\n\n- one\n- two\n"
)
PAGES = ("gb/gb0170.html", "gb/gb0252.html", "index.html", "dashboard.html", "paste.html", "releases.html")


def main() -> None:
    """Print two tables."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "_site"
        bare = Path(folder) / "bare"
        shutil.copytree(ROOT / "docs", bare)
        for page in (bare / "gb").glob("*.md"):
            page.write_text(f"---\nlayout: graph_break\npermalink: /gb/{page.stem.lower()}.html\n---\n{BARE}")
        pages = len(list((bare / "gb").glob("*.md")))
        full = statistics.median(build(ROOT / "docs", site) for _ in range(3))
        least = statistics.median(build(bare, Path(folder) / "bare-site") for _ in range(3))
        print(f"| Jekyll, {pages} breaks | s | against bare pages |\n|---|---|---|")
        print(f"| bare pages: a heading, four short sections | {least:.2f} | 1.00 |")
        print(f"| the site | {full:.2f} | {full / least:.2f} |")
        print_first_views(site)


def build(docs: Path, destination: Path) -> float:
    started = time.monotonic()
    build_with_jekyll(docs, destination, baseurl="")
    return time.monotonic() - started


def print_first_views(site: Path) -> None:
    """Bytes as sent compressed, and the time that scripts took until the page was idle: the median of five."""
    print("\n| first view | requests | KB, compressed | ms of scripting |\n|---|---|---|---|")
    with served(site) as address, chromium() as browser:
        for page in PAGES:
            views = []
            for _ in range(5):
                with browser.new_context() as context:
                    views.append(first_view(context, f"{address}/", page))
            asked = views[0][0]
            size = sum(len(gzip.compress((site / name).read_bytes())) for name in asked)
            print(f"| {page} | {len(asked)} | {size / 1000:.1f} | {statistics.median(ms for _, ms in views):.0f} |")


def first_view(context: BrowserContext, address: str, page: str) -> tuple[list[str], float]:
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url.removeprefix(address).partition("?")[0]))
    session = context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.goto(address + page)
    tab.wait_for_load_state("networkidle")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return [name for name in asked if name], 1000 * metrics["ScriptDuration"]


if __name__ == "__main__":
    if not shutil.which("jekyll"):
        sys.exit("jekyll and chromium are needed: make tools")
    main()
