"""Nobody but the UI's own pages is answered: raw requests, and web pages in a real Chromium, to the real server."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.loopback import Exchange, serve
from tests.repro_runner.ui.test_browser import Server, serving

pytestmark = pytest.mark.browser

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
ATTEMPT = """async address => {
  const outcomes = {};
  for (const path of ["/", "/_stcore/health"]) {
    try {
      outcomes[path] = (await fetch(address + path)).status;
    } catch { outcomes[path] = "refused"; }
  }
  outcomes.socket = await new Promise(resolve => {
    const socket = new WebSocket(address.replace("http", "ws") + "/_stcore/stream");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  });
  return outcomes;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("project")) as server:
        yield server


def statuses(server: Server, headers: dict[str, str], secret: str | None = None) -> dict[str, int]:
    """What a page, the list of what the server can do, and the websocket answer to these headers."""
    parts = urlsplit(server.address)
    found = {}
    for name, path, more in (
        ("page", "/", {}),
        ("health", "/_stcore/health", {}),
        ("socket", "/_stcore/stream", UPGRADE),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=30)
        connection.putrequest("GET", (parts.path if secret is None else secret) + path, skip_host=True)
        for header, value in {"Host": parts.netloc, **more, **headers}.items():
            for one in value.split("|"):
                connection.putheader(header, one)
        connection.endheaders()
        found[name] = connection.getresponse().status
        connection.close()
    return found


REFUSED = {"page": 403, "health": 403, "socket": 403}


def test_its_own_pages_are_answered(server: Server) -> None:
    own = f"http://{urlsplit(server.address).netloc}"
    assert statuses(server, {}) == statuses(server, {"Origin": own}) == {"page": 200, "health": 200, "socket": 101}


@pytest.mark.parametrize("secret", ["", "/wrong", "/../x", "/%2e%2e", "SECRETx", "/secret/..SECRET", "//SECRET"])
def test_without_the_secret_nothing_is_answered(server: Server, secret: str) -> None:
    asked = secret.replace("SECRET", urlsplit(server.address).path)
    assert statuses(server, {}, asked) == REFUSED


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "localhost:PORT", "127.0.0.1", "127.0.0.1:1", "", "OWN|evil.example"]
)
def test_another_host_is_refused_though_the_secret_is_right(server: Server, host: str) -> None:
    own = urlsplit(server.address)
    asked = host.replace("PORT", str(own.port)).replace("OWN", own.netloc)
    assert set(statuses(server, {"Host": asked}).values()) <= {400, 403}


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:PORT", "https://OWN", "OWN", ""],
)
def test_another_origin_is_refused_though_the_secret_is_right(server: Server, origin: str) -> None:
    own = urlsplit(server.address)
    asked = origin.replace("PORT", str(own.port)).replace("OWN", own.netloc)
    assert statuses(server, {"Origin": asked}) == REFUSED


def test_a_name_that_leads_to_this_machine_opens_nothing(server: Server, browser: Browser) -> None:
    """DNS rebinding: evil.example is 127.0.0.1 in this Chromium, so the page and the server have one origin."""
    rebound = server.address.replace("127.0.0.1", "evil.example")
    with browser.new_context() as context:
        page = context.new_page()
        answer = page.goto(f"{rebound}/")
        assert answer is not None
        assert answer.status == 403
        assert page.evaluate(ATTEMPT, rebound) == {"/": 403, "/_stcore/health": 403, "socket": "refused"}


def test_a_page_of_another_port_reads_nothing_and_frames_nothing(server: Server, browser: Browser) -> None:
    """It even knows the secret, and somebody uses the UI in the same browser."""

    def answer(exchange: Exchange) -> None:
        frame = f'<!doctype html><iframe src="{server.address}/"></iframe>'
        exchange.send(200, frame.encode(), {"Content-Type": "text/html"})

    with serve(answer) as other, browser.new_context() as context:
        own = context.new_page()
        own.goto(f"{server.address}/")
        expect(own.get_by_test_id("stMain")).to_be_visible()
        page = context.new_page()
        page.goto(other.url)
        assert page.evaluate(ATTEMPT, server.address) == {
            "/": "refused",
            "/_stcore/health": "refused",
            "socket": "refused",
        }
        assert page.frames[1].url.startswith("chrome-error:")


def test_the_arguments_of_a_process_do_not_name_the_secret(server: Server) -> None:
    secret = urlsplit(server.address).path.strip("/").encode()
    arguments = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert any(b"repro_runner.ui.server" in one for one in arguments)
    assert not any(secret in one for one in arguments)
