"""The part of a verb that touches a user's model runs in a child; if that fails, one line says how, and a run keeps it.

The module of such a verb has a function `work` for the child: from the words of the command line, and what this process
knows, to what is printed and the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, TypedDict

from registry.errors import InvalidInput
from repro_runner.cli.model_arguments import read_limits
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import NOT_AS_IT_SHOULD_BE
from repro_runner.output.places import with_shown_places
from repro_runner.output.terminal import plain
from repro_runner.process.isolated import ChildFailed, isolation
from repro_runner.report.contents import keep_failures
from repro_runner.runs import RunFolder


class Work(TypedDict):
    """What a child is given."""

    words: list[str]
    """The arguments of the verb."""
    manifest: dict[str, Any]
    """What the run's manifest has besides what the child knows: the environment, and the process of the command."""
    search_failed: str
    """Why an earlier child could not end its search; empty if there was none."""


class Done(TypedDict):
    """What a child returns."""

    printed: str
    code: int


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
    print(done["printed"])
    return done["code"]


def tell_failure(verb: str, arguments: argparse.Namespace, failed: ChildFailed, kind: str) -> int:
    """Print the line. If a backend may be to blame, a run keeps it, with the stack; a model alone leaves no run."""
    if failed.doing.own:
        raise InvalidInput([failed.problem(arguments.model)]) from failed
    run = RunFolder.create(verb, subject=arguments.model, **_manifest(arguments))
    keep_failures(run, {kind: str(failed)})
    run.add_traceback(failed.stack)
    print(plain(with_shown_places(str(failed.problem(arguments.model)))), file=sys.stderr)
    print(f"run {run.id}", file=sys.stderr)
    return NOT_AS_IT_SHOULD_BE


def _manifest(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"environment": describe_environment(arguments.device), "pid": os.getpid()}
