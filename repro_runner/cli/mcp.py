"""`graphbreak mcp`: serve the registry, and the scripts of one folder, to a coding agent over stdio."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.cli import main as run_verb
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import add_limit_arguments, read_limits
from repro_runner.exit_codes import DONE, REFUSED
from repro_runner.process.linux import leave

EPILOG = """\
The tools look_up, search, verified_fix and explain_log only read. explain_script and verify_patch run scripts, but only
if you give a folder: the scripts below it, with your rights, one at a time, within --timeout and --memory. Nothing
listens on a port.

examples:
  graphbreak mcp                             look-ups and logs that are pasted; no file is read or run
  graphbreak mcp --folder . --timeout 600    also runs the scripts below this folder

in the configuration of a client:
  {"mcpServers": {"graphbreak": {"command": "graphbreak", "args": ["mcp", "--folder", "/path/to/project"]}}}

exit codes:
  0    the client has closed its end, or Ctrl-C
  2    the arguments are not valid, or the package mcp is missing
"""


def main(argv: Sequence[str]) -> int:
    """Serve until standard input is closed."""
    parser = verb_parser(
        "mcp", "Serve the registry and your scripts to a coding agent: Model Context Protocol, over stdio.", EPILOG
    )
    parser.add_argument("--folder", type=Path, metavar="DIR", help="the folder whose scripts may be run")
    add_limit_arguments(parser, "for one call of a tool", seconds=300)
    arguments = parser.parse_args(argv)
    _check(arguments)
    from repro_runner.agents.server import make_server
    from repro_runner.agents.workspace import Workspace

    home = tempfile.TemporaryDirectory(prefix="graphbreak-mcp-", ignore_cleanup_errors=True)

    def end(*_: object) -> None:
        """End at once: a script that still runs, and the thread that waits for it, end with this process."""
        home.cleanup()
        leave(DONE)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    workspace = Workspace(
        task=f"{__name__}:run_words",
        folder=arguments.folder and arguments.folder.resolve(),
        scratch=Path(home.name),
        limits=replace(read_limits(arguments), output=_MOST_OUTPUT),
    )
    make_server(workspace).run("stdio")
    end()
    return DONE


def run_words(arguments: dict[str, Any], _folder: Path) -> dict[str, int]:
    """The task of a child: run one of our commands in a folder, as `graphbreak` would."""
    os.chdir(arguments["folder"])
    words = [str(word) for word in arguments["words"]]
    sys.argv = ["graphbreak", *words]
    try:
        return {"code": run_verb(words)}
    except SystemExit as error:  # argparse refuses arguments in this way
        return {"code": error.code if isinstance(error.code, int) else REFUSED}


_MOST_OUTPUT = 4 << 20
"""Bytes of each stream of a child; its report is far smaller."""


def _check(arguments: argparse.Namespace) -> None:
    problems = []
    if arguments.folder is not None and not arguments.folder.is_dir():
        problems.append(Problem(f"--folder {arguments.folder}", "there is no such folder; name one that is there"))
    if importlib.util.find_spec("mcp") is None:
        problems.append(Problem("graphbreak mcp", "needs the package mcp; `pip install graph-break-registry[agents]`"))
    if problems:
        raise InvalidInput(problems)
