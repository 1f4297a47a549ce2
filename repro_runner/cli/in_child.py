"""The part of a verb that touches a user's model runs in a child; if that fails, one line says how, and a run keeps it.

The module of such a verb has a function `work` for the child: from the words of the command line, and what this process
knows, to what is printed and the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from registry.errors import InvalidInput, WriteFailed
from repro_runner.cli.model_arguments import read_limits
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.output.places import with_shown_places
from repro_runner.output.terminal import plain
from repro_runner.process.isolated import ChildFailed, isolation
from repro_runner.report.contents import keep_failures
from repro_runner.runs import RunFolder, keeps_runs


class Work(TypedDict):
    """What a child is given."""

    words: list[str]
    """The arguments of the verb."""
    manifest: dict[str, Any]
    """What the run's manifest has besides what the child knows: the environment, and the process of the command."""
    search_failed: str
    """Why an earlier child could not end its search; empty if there was none."""


class _Ended(TypedDict):
    printed: str
    code: int


class Done(_Ended, total=False):
    """What a child returns."""

    not_stored: str
    """Why the disk refused what was found."""


def store(
    verb: str, subject: str, given: Work, write: Callable[[RunFolder], None], **settings: Any
) -> tuple[RunFolder | None, str]:
    """(a run with what was found; or why the disk refused it). None with GRAPHBREAK_ARTIFACTS=0."""
    if not keeps_runs():
        return None, ""
    try:
        run = RunFolder.create(verb, subject=subject, **given["manifest"], **settings)
        write(run)
    except WriteFailed as error:
        return None, str(error)
    return run, ""


def run_in_child(
    verb: str,
    words: Sequence[str],
    arguments: argparse.Namespace,
    modules: Sequence[str],
    *,
    each: bool = False,
    search_failed: str = "",
) -> Done:
    """Call `work` of a verb. ChildFailed if the child ends in any other way than by returning."""
    given = Work(words=list(words), manifest=_manifest(arguments), search_failed=search_failed)
    with isolation(*modules) as children:
        done: Done = children.run(f"repro_runner.cli.{verb}:work", given, read_limits(arguments), each=each)
    return done


def run_verb(
    verb: str, words: Sequence[str], arguments: argparse.Namespace, *modules: str, kind: str, each: bool = False
) -> int:
    """Call `work` of a verb, print what it returns, and return the exit code. `kind` is the document that it writes;
    with `each`, --timeout is for each thing that it does."""
    try:
        return print_done(run_in_child(verb, words, arguments, modules, each=each))
    except ChildFailed as failed:
        return tell_failure(verb, arguments, failed, kind)


def print_done(done: Done) -> int:
    print(done["printed"], flush=True)
    if why := done.get("not_stored"):
        print(f"not stored: {plain(why)}", file=sys.stderr)
        return REFUSED
    return done["code"]


def tell_failure(verb: str, arguments: argparse.Namespace, failed: ChildFailed, kind: str) -> int:
    """Print the line. If a backend may be to blame, a run keeps it, with the stack; a model alone leaves no run."""
    if failed.doing.own:
        raise InvalidInput([failed.problem(arguments.model)]) from failed

    def write(run: RunFolder) -> None:
        keep_failures(run, {kind: str(failed)})
        run.add_traceback(failed.stack)

    print(plain(with_shown_places(str(failed.problem(arguments.model)))), file=sys.stderr)
    given = Work(words=[], manifest=_manifest(arguments), search_failed="")
    run, why = store(verb, arguments.model, given, write)
    if run is not None or why:
        print(f"not stored: {plain(why)}" if run is None else f"run {run.id}", file=sys.stderr)
    return NOT_AS_IT_SHOULD_BE


def _manifest(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"environment": describe_environment(arguments.device), "pid": os.getpid()}
