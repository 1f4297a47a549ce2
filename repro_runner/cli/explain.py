"""`graphbreak explain SCRIPT [ARGS…]`: run a program, and tell where its graphs break, how often, and what to do."""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from registry.errors import WriteFailed
from repro_runner.cli.explain_options import check_options, make_parser, program_words
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.explain.allowed import Entry, allow_list, judge_sites, read_allowed, write_allowed
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.render.sentences import ended, failed, where
from repro_runner.explain.render.view import Outcome
from repro_runner.explain.report import Report
from repro_runner.explain.site import Suggestion
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

if TYPE_CHECKING:
    from repro_runner.explain.render.terminal import Screen

_MOST = 5
"""So many breaks are named in one line."""


def main(argv: Sequence[str]) -> int:
    """Run the program, show the report, write what is asked for."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if arguments.schema:
        from repro_runner.explain.document import read_schema

        print(read_schema(), end="")
        return DONE
    words = program_words(arguments)
    if not words:
        parser.error("name a script, or -m and a module; `graphbreak explain --help` has examples")
    check_options(arguments, words)
    try:
        return _explain(arguments, words)
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED


def _explain(arguments: argparse.Namespace, words: list[str]) -> int:
    describe_environment("cpu")  # says in one line that there is no torch
    program = ProgramToRun(
        script="" if arguments.module else words[0],
        module=words[0] if arguments.module else "",
        arguments=tuple(words[1:]),
        compiled=tuple(arguments.compile),
        allow_breaks=arguments.no_fullgraph,
    )
    start = _Start(
        arguments=arguments,
        program=program,
        folder=Path.cwd(),
        process=os.getpid(),
        entries=read_allowed(arguments.allow) if arguments.allow else None,
        screen=_screen(arguments),
        stdout=_keep_stdout(alone=arguments.format != "terminal" and arguments.out is None),
    )
    report = _run(start)
    if os.getpid() != start.process:  # a child that the program forked: the report is its parent's
        return report.program.exit_code or DONE
    return _show(start, report)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """How things were before the program changed them."""

    arguments: argparse.Namespace
    program: ProgramToRun
    folder: Path
    process: int
    entries: tuple[Entry, ...] | None
    screen: Screen | None
    stdout: FileIO


def _run(start: _Start) -> Report:
    from repro_runner.explain.running import run_program

    streams = sys.stdout, sys.stderr

    def put_back() -> None:
        """The program may have put other streams there, closed them, and gone elsewhere."""
        sys.stdout, sys.stderr = map(_usable, streams)
        os.chdir(start.folder)

    def leaving(report: Report) -> int:
        put_back()
        try:
            return _show(start, report)
        except (WriteFailed, BrokenPipeError) as error:
            _tell(str(error))
            return REFUSED

    try:
        return run_program(start.program, leaving=leaving)
    finally:
        put_back()
        _flush_stdout()


def _show(start: _Start, report: Report) -> int:
    """Show and keep what was found; the exit code."""
    arguments, folder = start.arguments, start.folder
    outcome = Outcome(
        report=report,
        judgement=None if start.entries is None else judge_sites(report, start.entries, folder=folder),
        suggestions=_suggestions(arguments, report, start.program),
    )

    from repro_runner.explain.document import outcome_text
    from repro_runner.explain.render.formats import Wishes, read_and_render

    wishes = Wishes(
        format=arguments.format,
        summary=arguments.summary,
        screen=start.screen,
        folder=folder,
        fullgraph_off=arguments.no_fullgraph,
    )
    text = outcome_text(outcome) if arguments.format == "json" else read_and_render(outcome, wishes)
    try:
        if arguments.out is None:
            _write_stdout(start.stdout, text)
        else:
            _write(arguments.out, text)
        if arguments.show_prompt:
            _show_prompts(arguments, report, start.stdout)
    finally:  # `| head` may have seen enough
        _keep(arguments, outcome, folder)
    if arguments.report and report.program.exit_code != INTERRUPTED:
