"""The site in a real Chromium: built by the real Jekyll and served on loopback, or built by `make site` and on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route

from sitegen.preview import write_preview
from tests.conftest import ROOT
from tests.scheduling import made_once, sampled
from tests.tools import BASE, QuietHandler, published_site, served


@dataclass(slots=True)
class Visitor:
    """A tab that remembers everything it should not have seen."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Page:
        """Go to a path below the root of the site."""
        index = "index.html" if self.on_disk and path[:1] in ("", "?", "#") else ""  # a folder on disk is no page
        self.page.goto(self.address + index + path)
        return self.page

    @property
    def on_disk(self) -> bool:
        return self.address.startswith("file:")

    def watch(self) -> None:
        own = self.address if self.on_disk else self.address.split(BASE)[0]
        self.page.on("request", lambda one: self._note(f"asks {one.url}", not one.url.startswith((own, "blob:"))))
        self.page.on("console", lambda one: self._note(one.text, one.type in ("error", "warning") and not _icon(one)))
        self.page.on("pageerror", lambda error: self._note(str(error), True))

    def _note(self, fault: str, is_one: bool) -> None:
        if is_one:
            self.faults.append(fault)


@dataclass  # without slots: Playwright keeps a note on the object whose method it calls
class Gate:
    """Holds requests back until it is opened: `page.route(pattern, gate.pass_or_hold)`."""

    held: list[Route] = field(default_factory=list)
    is_open: bool = False

    def pass_or_hold(self, route: Route) -> None:
        if self.is_open:
            route.continue_()
        else:
            self.held.append(route)

    def open(self) -> None:
        self.is_open = True
        for route in self.held:
            route.continue_()


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


@pytest.fixture(scope="session")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """docs/ as `make site` builds it: once, for all workers."""

    def build(folder: Path) -> None:
        write_preview(ROOT / "docs", folder)

    return made_once(tmp_path_factory, "on-disk", build)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield context


@pytest.fixture
def visitor(context: BrowserContext, address: str) -> Iterator[Visitor]:
    """A tab on the published site; the test fails if the page complained, or asked another host for anything."""
    yield from watched(context, address)


@pytest.fixture
def disk_visitor(context: BrowserContext, on_disk: Path) -> Iterator[Visitor]:
    """The same of somebody who opened the site's files; asking for any other file is a fault, too."""
    yield from watched(context, f"{on_disk.as_uri()}/")


@pytest.fixture(params=sampled(["server", "disk"]))
def either_visitor(request: pytest.FixtureRequest) -> Visitor:
    """First one, then the other: what has to work both ways."""
    visitor: Visitor = request.getfixturevalue("visitor" if request.param == "server" else "disk_visitor")
    return visitor


def watched(context: BrowserContext, address: str) -> Iterator[Visitor]:
    """A visitor who ends with nothing to complain about."""
    visitor = Visitor(context.new_page(), address)
    visitor.watch()
    yield visitor
    assert visitor.faults == []
