"""`graphbreak ui`: what it asks of its arguments, and how it starts the server."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.stylesheet import read_palette
from repro_runner.cli import main
from repro_runner.exit_codes import REFUSED
from repro_runner.ui.serving import FIRST_PORT, HOST, choose_port, server_environment, server_settings


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_that_is_taken_is_refused_in_a_line(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ui", "--port", str(taken), "--no-browser"]) == REFUSED
    assert capsys.readouterr().err == f"--port {taken}: another program uses it; name another, or leave it out\n"


def test_without_a_port_the_first_free_one_is_taken() -> None:
    first = choose_port(None)
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server may have been there a moment ago
        server.bind((HOST, first))
        server.listen()
        assert FIRST_PORT <= first < choose_port(None)


def test_all_that_is_missing_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert main(["ui", "--folder", "no\x1bsuch", "--port", "0"]) == REFUSED
    assert capsys.readouterr().err.splitlines() == [
        "ui: needs streamlit; `pip install graph-break-registry[ui]`",
        "--folder no\\x1bsuch: no such folder; name one that is there",
        "--port 0: must be from 1 to 65535",
    ]


def test_the_server_is_for_this_machine_alone_and_sends_nothing_home() -> None:
    options = server_settings(8600, "secret")
    assert options["server.address"] == HOST
    assert options["server.port"] == 8600
    assert options["browser.gatherUsageStats"] is False
    assert options["server.enableXsrfProtection"] is options["server.enableCORS"] is True
    assert options["theme.light.backgroundColor"] == read_palette()["light"]["--paper"] == "#fdfcfa"
    assert options["theme.dark.backgroundColor"] == read_palette()["dark"]["--paper"] == "#171513"


def test_runs_are_where_commands_in_that_folder_have_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHBREAK_HOME", raising=False)
    assert server_environment(tmp_path, "secret")["GRAPHBREAK_HOME"] == str(tmp_path / ".graphbreak")
    monkeypatch.setenv("GRAPHBREAK_HOME", "kept")
    assert server_environment(tmp_path, "secret")["GRAPHBREAK_HOME"] == str(tmp_path / "kept")
