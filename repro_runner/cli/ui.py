"""`graphbreak ui`: the runs of a folder in a browser, on this machine alone."""

from __future__ import annotations

import argparse
import importlib.util
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from registry.errors import InvalidInput, Problem
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import whole_number
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.process import run_attached
from repro_runner.ui.serving import HERE, HOST, answers, choose_port, server_command, server_environment

_TO_START = 60.0
"""Seconds that the server may need on a busy machine."""
_LARGEST_PORT = 65_535
EPILOG = """\
Pages: the runs on disk; one run, with graphs to zoom into, heat maps and a timeline of recompiles; two runs side by
side; and a form that starts a new run. The server accepts connections from this machine only. It answers only at the
address that it prints, which contains a secret. The pages load nothing from elsewhere. Models and capability files come
from below the folder only.
This needs streamlit: pip install 'graph-break-registry[ui]'

examples:
  graphbreak ui                          the runs of the current folder
  graphbreak ui --folder ~/project       those of another folder
  graphbreak ui --port 9000 --no-browser

exit codes:
  0    ended by Ctrl-C
  1    the server ended by itself; it printed why
  2    the arguments are not valid, the port is taken, or streamlit is not installed
"""


def main(argv: Sequence[str]) -> int:
    """Serve until Ctrl-C."""
    arguments = _parser().parse_args(argv)
    folder = _require(arguments)
    port = choose_port(arguments.port)
    secret = secrets.token_urlsafe(24)

    def announce(running: Callable[[], bool]) -> None:
        if _wait_for(port, running):
            _announce(f"http://{HOST}:{port}/{secret}", folder, opens=not arguments.no_browser)

    with Path(os.devnull).open("wb") as nowhere:  # Streamlit prints addresses of its own there
        environment = server_environment(folder, secret)
        code = run_attached(server_command(port), nowhere, folder=HERE, environment=environment, started=announce)
    return NOT_AS_IT_SHOULD_BE if code else DONE


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("ui", "Show the runs of a folder in a browser, compare them, and start new ones.", EPILOG)
    parser.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    parser.add_argument("--port", type=whole_number, metavar="N", help="default: the first free one from 8501 on")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    return parser


def _require(arguments: argparse.Namespace) -> Path:
    """The folder. InvalidInput with everything that is missing."""
    problems = []
    if importlib.util.find_spec("streamlit") is None:
        problems.append(Problem("ui", "needs streamlit; `pip install graph-break-registry[ui]`"))
    if not arguments.folder.is_dir():
        problems.append(Problem(f"--folder {arguments.folder}", "no such folder; name one that is there"))
    if arguments.port is not None and not 0 < arguments.port <= _LARGEST_PORT:
        problems.append(Problem(f"--port {arguments.port}", f"must be from 1 to {_LARGEST_PORT}"))
    if problems:
        raise InvalidInput(problems)
    return Path(arguments.folder.resolve())


def _wait_for(port: int, running: Callable[[], bool]) -> bool:
    """Wait until the server answers. Whether it still runs."""
    began = time.monotonic()
    while running() and not answers(port) and time.monotonic() - began < _TO_START:
        time.sleep(0.1)
    return running()


def _announce(address: str, folder: Path, *, opens: bool) -> None:
    """Print the address, and open it."""
    print(f"{address} shows {plain(folder)}. Ctrl-C ends it.", flush=True)
    if opens:
        import webbrowser  # looks for browsers when it is imported

        if not webbrowser.open(address):
            print("no browser was found; open the address yourself", file=sys.stderr)
