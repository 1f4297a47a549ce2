"""What every test shares: the snapshot switch, and the rule that CI skips nothing but GPU tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from repro_runner.process.isolated import isolation

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
# Machines are shared: a slow moment is no failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

# The mock backends keep graphs in the current folder; tests that want that ask for it.
os.environ.setdefault("GRAPHBREAK_ARTIFACTS", "0")

SNAPSHOTS = Path(__file__).parent / "snapshots"

pytest_plugins = ["tests.scheduling"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write tests/snapshots/ anew instead of comparing")


def pytest_configure() -> None:
    """Started in the background of a script, this process ignores Ctrl-C, and its children would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


CACHES = ("__pycache__/", ".cache/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", "Gemfile.lock")
_lying_there = pytest.StashKey[AbstractSet[object]]()


def _lies_in_the_working_tree() -> AbstractSet[object]:
    """What git sees that is not committed, ignored files too; caches of tools may come and go."""
    command = ["git", "status", "--porcelain", "--ignored"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {line for line in done.stdout.splitlines() if not line.endswith(CACHES)}


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        session.stash[_lying_there] = _lies_in_the_working_tree()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tests leave the working tree as it was, else the next run depends on this one. What they leave is named."""
    if _lying_there not in session.stash:
        return
    if left := sorted(_lies_in_the_working_tree() - session.stash[_lying_there], key=str):
        print("\nthe tests left this in the working tree:", *left, sep="\n")
        if os.environ.get("CI") == "true":  # elsewhere somebody may be at work
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a missing tool is a failure: a skip that is not about a GPU fails the test."""
    report = yield
    about_a_gpu = item.get_closest_marker("gpu") is not None and "no GPU" in str(report.longrepr)
    if report.skipped and os.environ.get("CI") == "true" and not about_a_gpu:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what only a GPU can tell: pytest folds skips into line numbers."""
    skipped = [report.nodeid for report in terminalreporter.getreports("skipped") if "gpu" in report.keywords]
    if skipped:
        terminalreporter.section(f"{len(skipped)} tests need a GPU and were skipped")
        terminalreporter.write("\n".join(skipped) + "\n")


@pytest.fixture(autouse=True)
def as_dynamo_was_set() -> Iterator[None]:
    """A program that runs in this process may set up Dynamo for itself; the next test's may not see that."""
    config = sys.modules.get("torch._dynamo.config")
    before = config.get_config_copy() if config else {}
    yield
    if config:
        for name, value in config.get_config_copy().items():
            if value != before[name]:
                setattr(config, name, before[name])


@pytest.fixture(scope="session")
def one_server() -> Iterator[None]:
    """All commands of this process that run a model fork their children from one process, which has torch already."""
    with isolation("repro_runner.report.steps", "repro_runner.minifier", "repro_runner.aot_backend"):
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a worker: Playwright's simple interface allows one at a time."""
    from tests.tools import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def matches_snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with tests/snapshots/<name>, or write it with --update-snapshots."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if request.config.getoption("--update-snapshots"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        assert path.exists(), f"no snapshot {name}; run pytest --update-snapshots and read what it wrote"
        assert text == path.read_bytes().decode("utf-8")

    return compare
