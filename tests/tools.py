"""Programs that tests need from outside Python: Jekyll, Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import ROOT
from tests.scheduling import made_once

BASE = "/compile-graph-break-site"
"""Where the published site lies below its host."""


def require_tool(name: str) -> str:
    """Return the path of a program; without it the test is skipped by name, and in CI it fails."""
    path = shutil.which(name)
    if path is not None:
        return path
    message = f"{name} is not installed; on Debian and Ubuntu: apt-get install {name}"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def build_with_jekyll(docs: Path, destination: Path, baseurl: str | None = None) -> None:
    """Build `docs` as the published site is built, below another base if one is given; fail with Jekyll's own words."""
    jekyll = require_tool("jekyll")
    command = [
        jekyll,
        "build",
        "--quiet",
        "--disable-disk-cache",
        "--source",
        str(docs),
        "--destination",
        str(destination),
        *([] if baseurl is None else ["--baseurl", baseurl]),
    ]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "JEKYLL_ENV": "production"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        pytest.fail(f"jekyll build failed:\n{done.stdout}{done.stderr}", pytrace=False)


def published_site(factory: pytest.TempPathFactory) -> Path:
    """docs/ as it is committed, built by Jekyll below BASE: once, for all tests of all workers."""
    return made_once(factory, "published", lambda folder: build_with_jekyll(ROOT / "docs", folder, BASE))


@contextmanager
def chromium() -> Iterator[Browser]:
    """The installed Chromium, without a window; Playwright's own download is not used.

    The one that has no window at all loads a page with a sixth of the work.
    """
    executable = shutil.which("chromium-headless-shell") or require_tool("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),  # tests may run as root, in a container
                "--host-resolver-rules=MAP evil.example 127.0.0.1",  # a name that an attacker lets lead to this machine
            ],
        )
        try:
            yield browser
        finally:
            browser.close()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder and keeps its log to itself."""

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that closes a tab breaks its connections off: nothing to report."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def served(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """A real server on loopback; gives its address, without a final slash."""
    with _Server(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def json_of(script: str) -> str:
    """The JSON in a script of assets/data."""
    return script.partition(" = ")[2].rstrip().removesuffix(";")


def run_node(script: str, *arguments: str, stdin: str = "") -> str:
    """Run an ES module in Node and return what it prints."""
    command = [require_tool("node"), "--input-type=module", "-e", script, "--", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    if done.returncode:
        pytest.fail(done.stderr, pytrace=False)
    return done.stdout
