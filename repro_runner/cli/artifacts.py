"""`graphbreak artifacts`: list the runs on disk, or delete them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted, size
from repro_runner.runs import runs_home
from repro_runner.runs.inventory import choose_runs, delete_runs, describe_run, is_being_written, runs_document
from repro_runner.runs.run_folder import RunFolder, list_runs

_AGE = re.compile(r"(\d{1,4})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def main(argv: Sequence[str]) -> int:
    """List or delete runs. Exit code 0 when done, 1 if the user answered no, 2 if there is no terminal to ask."""
    arguments = _parser().parse_args(argv)
    if arguments.action == "list":
        return _list(arguments)
    try:
        return _clean(arguments)
    except KeyboardInterrupt:
        print("\ninterrupted; what is left is listed by `graphbreak artifacts list`", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak artifacts",
        description="The runs on disk: in $GRAPHBREAK_HOME, or .graphbreak in the current folder.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|clean")
    listing = actions.add_parser("list", help="list every run: its id, its model, its size, what it holds")
    listing.add_argument("--json", action="store_true", help="the same as one JSON object")
    cleaning = actions.add_parser("clean", help="delete runs, after asking", description="Delete runs, after asking.")
    cleaning.add_argument("ids", nargs="*", metavar="RUN", help="ids, or the start of ids; default: every run")
    cleaning.add_argument("--older-than", type=_age, metavar="AGE", help="only older runs: 30m, 12h, 7d, 2w")
    cleaning.add_argument("--keep", type=_count, default=0, metavar="N", help="keep the N newest")
    cleaning.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not an age; write 30m, 12h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _count(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs")
    return int(text)


def _list(arguments: argparse.Namespace) -> int:
    listed = [describe_run(run) for run in list_runs()]
    if arguments.json:
        print(json.dumps(runs_document(listed), indent=2))
        return DONE
    if not listed:
        print(f"no runs in {plain(runs_home())} yet; `graphbreak check`, `diff`, `guards` and `report` make one")
        return DONE
    head = ("run", "verb", "model", "when", "size", "holds")
    rows = [
        (each.run.id, each.verb, each.subject, _when(each.started), size(each.size), ", ".join(each.holds) or "nothing")
        for each in listed
    ]
    print("\n".join(table([head, *rows], right=(4,))))
    total = sum(each.size for each in listed)
    print(f"{counted(len(listed), 'run')}, {size(total)}, in {plain(runs_home())}")
    return DONE


def _when(started: str) -> str:
    """The time in the reader's time zone."""
    try:
        return f"{datetime.fromisoformat(started).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return started


def _clean(arguments: argparse.Namespace) -> int:
    chosen = choose_runs(arguments.ids, older_than=arguments.older_than, keep=arguments.keep)
    busy = [] if arguments.ids else [run for run in chosen if is_being_written(run)]
    chosen = [run for run in chosen if run not in busy]
    for run in busy:
        print(f"{run.id}: left alone, since the process that made it still runs; name it to delete it all the same")
    if not chosen:
        print(f"nothing to delete in {plain(runs_home())}")
        return DONE
    about = f"{counted(len(chosen), 'run')}, {size(sum(describe_run(run).size for run in chosen))}"
    if not arguments.yes:
        if not sys.stdin.isatty():
            print(f"{about}: not deleted, since nobody can be asked here; add --yes", file=sys.stderr)
            return REFUSED
        if not _confirm(chosen, about):
            print("nothing was deleted")
            return NOT_AS_IT_SHOULD_BE
    deleted = delete_runs(chosen)
    print(f"deleted {counted(len(deleted), 'run')}")
    return DONE


def _confirm(chosen: Sequence[RunFolder], about: str) -> bool:
    for run in chosen:
        print(f"  {run.id}")
    try:
        # `input` would print the question on standard error.
        print(f"delete {about}, from {plain(runs_home())}? [y/N] ", end="", flush=True)
        answer = input()
    except EOFError:
        print()
        return False
    return answer.strip().lower() in ("y", "yes")
