"""Read links and anchors out of built pages, quickly: there are hundreds of pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

ORIGIN = "https://site.invalid"


@dataclass(slots=True)
class Links:
    """What a page points to, and what in it can be pointed to."""

    targets: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Links()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 (HTMLParser's signature)
        for name, value in attrs:
            if name == "id" and value:
                self.found.anchors.add(value)
            elif name in ("href", "src", "action") and value:
                self.found.targets.add(value)


def read_links(site: Path) -> dict[str, Links]:
    """Path of every page below the site's root -> its links."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        reader = _Reader()
        reader.feed(path.read_text("utf-8"))
        found[path.relative_to(site).as_posix()] = reader.found
    return found


def broken_links(site: Path, base: str) -> list[str]:
    """Every link inside the site that leads nowhere, or to an anchor that is not there."""
    pages = read_links(site)
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    wrong = []
    for page, links in pages.items():
        for target in links.targets:
            url = urlsplit(urljoin(f"{ORIGIN}{base}/{page}", target))
            if url.scheme != "https" or f"{url.scheme}://{url.netloc}" != ORIGIN:
                continue
            if not url.path.startswith(f"{base}/"):
                wrong.append(f"{page}: {target} is outside the base address")
                continue
            path = unquote(url.path.removeprefix(f"{base}/")) or "index.html"
            if path not in files:
                wrong.append(f"{page}: {target}")
            elif url.fragment and path in pages and unquote(url.fragment) not in pages[path].anchors:
                wrong.append(f"{page}: {target} has no such anchor")
    return wrong
