"""`graphbreak add run.json --name N`: add the breaks of a saved run, and nothing else of it, to captured/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.captured import NAME_RULE, dump_captured, is_name
from registry.datafile import DATA, check_writable, write_data_file
from registry.errors import InvalidInput, Problem
from registry.merge import merge_registry
from registry.model import CapturedProgram
from repro_runner.cli import verb_parser
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.explain.document import read_saved
from repro_runner.explain.report import Report
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

_LONGEST = 200
"""The most characters of --about, which must fit into one line of a page."""

KEPT = """\
what is kept:
  For each type of break: its id, its text in the registry, at how many lines and in how many compilations it occurred,
  and how often it ran. For the run: the number of graphs, ops and recompiles; torch, Python, device and date. No path,
  no source line, no function name and no value is kept. Still, read the file before you publish it.

exit codes:
  0 written; 1 written, but a type that quotes the program was left out; 2 bad arguments, or the file can't be written
"""


def main(argv: Sequence[str]) -> int:
    """Write the file."""
    arguments = _parser().parse_args(argv)
    path = (arguments.into or DATA / "captured") / f"{arguments.name}.json"
    report = _read(arguments, path)

    from registry.knowledge import read_package
    from repro_runner.explain.fingerprint import take_fingerprint

    known = read_package()
    taken = take_fingerprint(
        report,
        name=arguments.name,
        about=arguments.about,
        registry=merge_registry(known),
        torch_types={site.gb_type for release in known.releases for site in release.call_sites},
    )
    if arguments.into is None:
        path.parent.mkdir(exist_ok=True)
    check_writable(path)
    write_data_file(path, dump_captured(taken.program))
    types = counted(len(taken.program.breaks), "type")
    print(f"{path}: {types} of break at {counted(len(report), 'line')}, torch {plain(taken.program.environment.torch)}")
    for gb_type in taken.left_out:
        print(f"left out, since nobody knows it and it quotes the program: {plain(gb_type)}", file=sys.stderr)
    return NOT_AS_IT_SHOULD_BE if taken.left_out else DONE


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("add", "Add the breaks of a saved run to the registry, as seen in your program.", KEPT)
    parser.add_argument(
        "run", type=Path, metavar="RUN.json", help="what `graphbreak explain --save` wrote, or `log --format json`"
    )
    parser.add_argument("--name", required=True, help="the program's name in the registry: lower-case letters, -._")
    parser.add_argument("--about", default="", metavar="TEXT", help="one line about the program, shown by its name")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="default: registry/captured")
    parser.add_argument("--force", action="store_true", help="replace a program of the same name")
    return parser


def _read(arguments: argparse.Namespace, path: Path) -> Report:
    """Read the run. Raises InvalidInput with everything that is wrong with the arguments."""
    problems = []
    if not is_name(arguments.name):
        problems.append(Problem(f"--name {plain(arguments.name)}", f"use {NAME_RULE}"))
    elif path.exists() and not arguments.force:
        problems.append(Problem(str(path), "is there already; choose another --name, or replace it with --force"))
    if len(arguments.about) > _LONGEST or not arguments.about.isprintable():
        problems.append(Problem("--about", f"write one line of at most {_LONGEST} characters"))
    try:
        saved = read_saved(arguments.run)
    except InvalidInput as error:
        raise InvalidInput([*problems, *error.problems]) from error
    if isinstance(saved, CapturedProgram):
        problems.append(Problem(str(arguments.run), "is captured already; copy it into registry/captured"))
    elif not saved.environment.get("torch"):
        problems.append(Problem(str(arguments.run), "does not say its torch; `graphbreak log --torch 2.13.0` does"))
    if problems or isinstance(saved, CapturedProgram):
        raise InvalidInput(problems)
    return saved
