"""The local server: a real one, in its own process, stopped as a person stops it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from sitegen.serve import serve
from tests.processes import eventually
from tests.sitegen.fixture_site import REPOSITORY, write_fixture_site

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from pathlib import Path
from sitegen.preview import render_preview
from sitegen.serve import serve
docs = Path(sys.argv[1])
serve(lambda: render_preview(docs), [docs], port=0)
"""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True, slots=True)
class Server:
    docs: Path
    process: subprocess.Popen[str]
    port: int

    def get(self, path: str, method: str = "GET", host: str = "127.0.0.1:PORT") -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, headers={"Host": host.replace("PORT", str(self.port))})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def stop(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit status and what went to stderr."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=10)
        return self.process.returncode, errors


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    docs = tmp_path / "docs"
    write_fixture_site(docs)
    (tmp_path / "secret.txt").write_text("secret")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(docs)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = re.fullmatch(r"Serving http://127\.0\.0\.1:(\d+)/ until Ctrl-C\n", process.stdout.readline())
    assert address is not None
    try:
        yield Server(docs, process, int(address[1]))
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/gb/gb0000.html?a=b", "text/html; charset=utf-8"),
        ("/assets/css/style.css", "text/css; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
    ],
)
def test_pages_come_with_their_content_type(server: Server, path: str, content_type: str) -> None:
    answer = server.get(path)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == content_type
    assert int(answer.headers["Content-Length"]) == len(answer.body) > 0


def test_head_sends_no_body(server: Server) -> None:
    answer = server.get("/", method="HEAD")
    assert (answer.status, answer.body) == (200, b"")


def test_an_unknown_address_gives_the_404_page_at_any_depth(server: Server) -> None:
    answer = server.get("/gb/deep/nothing.html")
    assert answer.status == 404
    assert b"Page not found" in answer.body
    assert b'href="/assets/css/style.css"' in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/gb/../../secret.txt",
        "//secret.txt",
        "/%00",
        "/_config.yml",
    ],
)
def test_nothing_outside_the_build_is_served(server: Server, path: str) -> None:
    answer = server.get(path)
    assert answer.status == 404 or b"<h1>Graph breaks</h1>" in answer.body
    assert b"secret" not in answer.body


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:PORT", 200), ("localhost:PORT", 200), ("evil.example:PORT", 403), ("127.0.0.1:1", 403), ("", 403)],
)
def test_another_name_that_leads_here_is_refused(server: Server, host: str, status: int) -> None:
    answers = [server.get("/", host=host), server.get("/nothing", host=host)]
    assert answers[0].status == status
    assert (b"Graph breaks" in answers[0].body) == (status == 200)
    assert answers[1].status == (404 if status == 200 else 403)


def test_a_folder_without_its_slash_is_redirected(server: Server) -> None:
    (server.docs / "sub").mkdir()
    (server.docs / "sub" / "index.html").write_text("in the folder")
    assert eventually(lambda: server.get("/sub/").status == 200)
    answer = server.get("/sub")
    assert (answer.status, answer.headers["Location"]) == (301, "/sub/")


def test_a_change_is_shown_without_a_restart(server: Server) -> None:
    (server.docs / "new.md").write_text("---\ntitle: New\n---\nfirst")
    assert eventually(lambda: server.get("/new.html").body == b"<p>first</p>")
    (server.docs / "new.md").write_text("---\ntitle: New\n---\nsecond")
    assert eventually(lambda: server.get("/new.html").body == b"<p>second</p>")
    (server.docs / "new.md").unlink()
    assert eventually(lambda: server.get("/new.html").status == 404)
    assert server.stop() == (0, "")


def test_a_failed_build_leaves_the_last_good_one(server: Server) -> None:
    (server.docs / "new.md").write_text("---\n---\nfirst")
    assert eventually(lambda: server.get("/new.html").status == 200)
    (server.docs / "new.md").write_text("---\n---\n{{ 'x' | nonsense }}")
    time.sleep(2)
    assert server.get("/new.html").body == b"<p>first</p>"
    (server.docs / "new.md").write_text("---\n---\nmended")
    assert eventually(lambda: server.get("/new.html").body == b"<p>mended</p>")
    status, errors = server.stop()
    assert status == 0
    assert f"{server.docs / 'new.md'}:3: Liquid: unknown filter 'nonsense'\nNot built: still serving" in errors
    assert "Traceback" not in errors


def test_ctrl_c_ends_it_even_with_a_connection_open(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)):
        assert server.stop() == (0, "")


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"127.0.0.1:{port}: cannot serve there: Address already in use"):
            serve(dict, [tmp_path], port=port)
