"""The published site: built by the real Jekyll below a base address, served on loopback, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.tools import BASE, QuietHandler, published_site, served


@dataclass(slots=True)
class Visitor:
    """A tab that remembers everything it should not have seen."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Page:
        """Go to a path below the root of the site."""
        self.page.goto(self.address + path)
        return self.page

    def watch(self) -> None:
        origin = self.address.split(BASE)[0]
        self.page.on("request", lambda one: self._note(f"asks {one.url}", not one.url.startswith((origin, "blob:"))))
        self.page.on("console", lambda one: self._note(one.text, one.type in ("error", "warning") and not _icon(one)))
        self.page.on("pageerror", lambda error: self._note(str(error), True))

    def _note(self, fault: str, is_one: bool) -> None:
        if is_one:
            self.faults.append(fault)


def _icon(message: ConsoleMessage) -> bool:
    """A text file names no icon; a browser then looks for one at the root of the server, which is not ours."""
    return message.location["url"].endswith("/favicon.ico")


class _Handler(QuietHandler):
    """Serves what Pages would: below the base address, with the site's own page for what is not there."""

    def translate_path(self, path: str) -> str:
        below = path.removeprefix(BASE) if path.startswith(f"{BASE}/") else "/not-below-the-base"
        return super().translate_path(below)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        if code != 404:
            return super().send_error(code, message, explain)
        content = Path(self.directory, "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        return None


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """docs/ as it is committed, built by Jekyll: once, for all workers."""
    return published_site(tmp_path_factory)


@pytest.fixture(scope="session")
def address(published: Path) -> Iterator[str]:
    with served(published, _Handler) as origin:
        yield f"{origin}{BASE}/"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield context


@pytest.fixture
def visitor(context: BrowserContext, address: str) -> Iterator[Visitor]:
    """A tab on the published site; the test fails if the page complained, or asked another host for anything."""
    visitor = Visitor(context.new_page(), address)
    visitor.watch()
    yield visitor
    assert visitor.faults == []
