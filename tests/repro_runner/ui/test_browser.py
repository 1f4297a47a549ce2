"""The UI in a real Chromium, from the real server: `graphbreak ui` as people start it."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from repro_runner.runs import RunFolder, list_runs
from tests.conftest import ROOT
from tests.processes import eventually, processes_with
from tests.repro_runner.fixtures.sample_run import write_sample_run
from tests.repro_runner.ui.conftest import MARKUP

pytestmark = pytest.mark.browser

MODEL = """\
import torch


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), torch.randn(2, 4)
"""


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """The first page waits for Python to import streamlit, on a busy machine for long."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


@dataclass
class Server:
    """A running `graphbreak ui`."""

    process: subprocess.Popen[str]
    address: str
    mark: str
    """NAME=value in the environment of all its processes."""
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note each request that leaves this machine, each dialog and each error of a script."""
        own = (self.address, "data:", "blob:", self.address.replace("http:", "ws:"))
        page.on("request", lambda one: None if one.url.startswith(own) else self.faults.append(one.url))
        page.on("websocket", lambda one: None if one.url.startswith(own) else self.faults.append(one.url))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: self.faults.append(dialog.message))


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start the command in a folder; at the end it is interrupted, and has to leave nothing behind."""
    mark = f"GRAPHBREAK_TEST_UI={secrets.token_hex(8)}"
    name, _, value = mark.partition("=")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), name: value}
    environment.pop("GRAPHBREAK_HOME", None)
    with subprocess.Popen(
        [sys.executable, "-m", "repro_runner", "ui", "--folder", str(folder), "--no-browser"],
        cwd=folder.parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.match(r"(http://127\.0\.0\.1:\d+/[\w-]{32}) shows ", told)
        assert found, told
        try:
            yield Server(process, found[1], mark)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
    assert process.returncode == 0
    assert processes_with(mark) == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mine.py").write_text(MODEL)
    return folder


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        yield page


def write_runs(project: Path) -> tuple[RunFolder, RunFolder]:
    home = project / ".graphbreak"
    return write_sample_run(home), write_sample_run(home, lambda text: MARKUP + text)


def test_runs_are_opened_zoomed_and_compared_and_nothing_leaves_this_machine(project: Path, page: Page) -> None:
    plain, hostile = write_runs(project)
    with serving(project) as server:
        server.watch(page)
        page.goto(server.address)
        page.get_by_role("link", name=re.compile(plain.id)).click()
        expect(page.get_by_role("heading", name="model.py:make_model", exact=True)).to_be_visible()
        page.get_by_role("radio", name="Graphs").click()
        image = page.locator(".stage img")
        expect(image).to_have_attribute("style", re.compile(r"scale\(0\.\d+\)"))
        before = image.get_attribute("style")
        page.get_by_role("button", name="Zoom in").click()
        closer = image.get_attribute("style")
        assert closer != before
        page.locator(".stage").focus()
        page.keyboard.press("ArrowLeft")
        moved = image.get_attribute("style")
        assert moved != closer
        page.locator(".stage").hover()
        page.mouse.wheel(0, -200)
        expect(image).not_to_have_attribute("style", str(moved))
        assert page.url == f"{server.address}/run?run={plain.id}&part=Graphs"
        page.goto(f"{server.address}/run?run={hostile.id}&part=Guards")
        expect(page.get_by_text("torch then gave up")).to_be_visible()
        page.goto(f"{server.address}/compare?a={plain.id}&b={hostile.id}")
        expect(page.get_by_role("heading", name="Verdicts")).to_be_visible()
        assert page.title() == "Compare two"
        assert server.faults == []


@pytest.mark.prove
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_their_window_and_can_be_used_by_everybody(
    project: Path, browser: Browser, width: int, scheme: str
) -> None:
    plain, _ = write_runs(project)
    parts = ("Overview", "Violations", "Numerics", "Graphs", "Guards", "Smallest+program", "Benchmark")
    addresses = ["", "new", "compare", *(f"run?run={plain.id}&part={part}" for part in parts)]
    with (
        serving(project) as server,
        browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
        ) as context,
    ):
        page = context.new_page()
        for address in addresses:
            page.goto(f"{server.address}/{address}")
            page.locator(".graphbreak").first.wait_for()
            expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
            wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
            assert wide <= width, address
            found = Axe().run(page, context={"include": [[".graphbreak"]]})
            assert found.violations_count == 0, (address, found.generate_report())


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.timeout(900)
def test_a_run_is_started_from_the_form_and_opens_when_it_has_ended(project: Path, page: Page) -> None:
    with serving(project) as server:
        server.watch(page)
        page.goto(f"{server.address}/new")
        expect(page.get_by_text("graphbreak demo --quick --model bert")).to_be_visible()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("check …")).to_be_visible(timeout=120_000)
        expect(page.get_by_role("heading", name="bert", exact=True)).to_be_visible(timeout=600_000)
        (run,) = list_runs(project / ".graphbreak")
        assert f"run={run.id}" in page.url
        assert (run.path / "report.html").is_file()
        with page.expect_download() as download:
            page.get_by_role("button", name="Report as one file").click()
        assert download.value.path().read_bytes() == (run.path / "report.html").read_bytes()
        assert server.faults == []


@pytest.mark.prove
@pytest.mark.torch
def test_two_tabs_run_two_commands_and_each_shows_its_own_complaint(project: Path, browser: Browser) -> None:
    names = ("one.missing:backend", "two.missing:backend")
    with serving(project) as server, browser.new_context() as context:
        tabs = {name: context.new_page() for name in names}
        for name, tab in tabs.items():
            tab.goto(f"{server.address}/new")
            tab.get_by_role("combobox", name="Backend").click()
            tab.get_by_role("option", name="another …").click()
            tab.get_by_label("Where it is").fill(name)
            tab.keyboard.press("Enter")
            expect(tab.get_by_text(f"--backend {name}")).to_be_visible()
            tab.get_by_role("button", name="Run", exact=True).click()
        for name, tab in tabs.items():
            expect(tab.get_by_text(f"{name}: can't be imported")).to_be_visible(timeout=240_000)
            expect(tab.locator(".warning")).to_have_count(1)
        assert list_runs(project / ".graphbreak") == []


@pytest.mark.prove
@pytest.mark.torch
def test_a_run_can_be_stopped_and_leaves_no_process(project: Path, page: Page) -> None:
    with serving(project) as server:
        page.goto(f"{server.address}/new")
        page.get_by_role("button", name="Run", exact=True).click()
        stop = page.get_by_role("button", name="Stop")
        stop.wait_for()
        assert eventually(lambda: len(processes_with(server.mark)) > 2)
        stop.click()
        expect(page.get_by_text("Stopped.")).to_be_visible(timeout=60_000)
        assert eventually(lambda: len(processes_with(server.mark)) <= 2)
        page.get_by_role("button", name="Back to the form").click()
        page.get_by_role("button", name="Run", exact=True).click()
        assert eventually(lambda: len(processes_with(server.mark)) > 2)
    # Ctrl-C on the server while a run goes on: `serving` looks for what is left.
