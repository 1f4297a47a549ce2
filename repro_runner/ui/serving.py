"""How the UI is started: its server's command and settings, and a free port. Needs no streamlit."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from registry.stylesheet import read_palette
from repro_runner.process import module_command

HOST = "127.0.0.1"
FIRST_PORT = 8501
_PORTS = 50
FOLDER = "GRAPHBREAK_UI_FOLDER"
"""The variable in which the app finds the folder."""
SECRET = "GRAPHBREAK_UI_SECRET"
"""The variable with the secret. Other users of the machine can read arguments of a process, but not its environment."""
HERE = Path(__file__).parent

_SETTINGS = {
    "server.address": HOST,
    "server.headless": True,  # it opens no browser, and asks for no e-mail address
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
    "server.runOnSave": False,
    "browser.gatherUsageStats": False,
    "browser.serverAddress": HOST,
    "client.toolbarMode": "minimal",
    "logger.level": "warning",
    "client.showErrorDetails": "type",  # the rest is printed on the terminal
    "theme.baseRadius": "6px",
    "theme.showWidgetBorder": True,
}
_COLOURS = {
    "primaryColor": "--accent",
    "backgroundColor": "--paper",
    "secondaryBackgroundColor": "--raised",
    "textColor": "--ink",
    "linkColor": "--accent",
    "borderColor": "--line",
    "codeBackgroundColor": "--raised",
    "codeTextColor": "--ink",
    "redColor": "--breaks",
    "greenColor": "--works",
    "yellowColor": "--doubt",
    "font": "--sans",
    "codeFont": "--mono",
}
"""Streamlit's name -> the variable of the stylesheet that the site and the reports have, too."""


def server_command(port: int) -> list[str]:
    """The command that serves the app on loopback."""
    return module_command("repro_runner.ui.server", str(port))


def server_settings(port: int, secret: str) -> dict[str, Any]:
    """Streamlit's settings. All addresses begin with the secret."""
    return {**_SETTINGS, "server.port": port, "server.baseUrlPath": secret, **dict(_theme())}


def server_environment(folder: Path, secret: str) -> dict[str, str]:
    """The environment of the server. Runs are where the commands have them that are started in this folder."""
    home = folder / (os.environ.get("GRAPHBREAK_HOME") or ".graphbreak")
    return {**os.environ, FOLDER: str(folder), SECRET: secret, "GRAPHBREAK_HOME": str(home)}


def _theme() -> Iterator[tuple[str, str]]:
    for scheme, palette in read_palette().items():
        for name, variable in _COLOURS.items():
            yield f"theme.{scheme}.{name}", palette[variable]


def choose_port(asked: int | None) -> int:
    """The port that was asked for, or the first that is free. InvalidInput if it is taken."""
    if asked is not None:
        if not _is_free(asked):
            raise InvalidInput([Problem(f"--port {asked}", "another program uses it; name another, or leave it out")])
        return asked
    for port in range(FIRST_PORT, FIRST_PORT + _PORTS):
        if _is_free(port):
            return port
    taken = f"{FIRST_PORT} to {FIRST_PORT + _PORTS - 1}"
    raise InvalidInput([Problem("--port", f"the ports {taken} are all taken; name a free one")])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    """Whether the server takes connections."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0
