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
        _write_fix_report(arguments.report, report, start.program)
    return _verdict(arguments, outcome, folder)


def _suggestions(arguments: argparse.Namespace, report: Report, program: ProgramToRun) -> tuple[Suggestion, ...] | None:
    """What a language model proposes, tried; None where none was asked."""
    if not arguments.llm or report.program.exit_code == INTERRUPTED:
        return None
    from repro_runner.assistant import ask, read_settings
    from repro_runner.explain.render.formats import read_answers

    settings = read_settings(url=arguments.llm_url, model=arguments.llm_model)
    return ask(report, program, settings, answers=read_answers(), tell=_tell)


def _show_prompts(arguments: argparse.Namespace, report: Report, stdout: FileIO) -> None:
    """After a terminal's report; a document stays alone on standard output."""
    from repro_runner.assistant import render_prompts
    from repro_runner.explain.render.formats import read_answers

    lines: list[str] = []
    for number, prompt in enumerate(render_prompts(report, answers=read_answers()), 1):
        lines += ["", f"----- prompt {number} -----", prompt]
    text = "\n".join([*lines, ""])
    if arguments.format == "terminal" and arguments.out is None:
        _write_stdout(stdout, text)
    else:
        _tell(text)


def _keep(arguments: argparse.Namespace, outcome: Outcome, folder: Path) -> None:
    if arguments.save:
        from repro_runner.explain.document import outcome_text

        _write(arguments.save, outcome_text(outcome))
    if arguments.write_allow:
        write_allowed(arguments.write_allow, allow_list(outcome.report, folder=folder))
        _tell(f"{arguments.write_allow} written")


def _write_fix_report(folder: Path, report: Report, program: ProgramToRun) -> None:
    from repro_runner.explain.render.formats import read_registry
    from repro_runner.fix_report import findings_of_program, write_fix_report

    written = write_fix_report(folder, findings_of_program(report, program), read_registry(), tell=_tell)
    _tell(f"{written.report} written")


def _screen(arguments: argparse.Namespace) -> Screen | None:
    """What standard output can show; None where no terminal's text goes there."""
    if arguments.out is not None or arguments.format != "terminal":
        return None
    from repro_runner.explain.render.terminal import screen_of

    return screen_of(sys.stdout)


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteFailed(f"{path}: {error.strerror}; name another file") from error
    _tell(f"{path} written")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _verdict(arguments: argparse.Namespace, outcome: Outcome, folder: Path) -> int:
    """The exit code; standard error's last line says why it is not 0."""
    report, judgement = outcome.report, outcome.judgement
    refused = report.sites if judgement is None else judgement.new
    if report.program.exit_code == INTERRUPTED:
        code, why = INTERRUPTED, ended(report.program)
    elif failed(report.program):
        code, why = NOT_AS_IT_SHOULD_BE, ended(report.program)
    elif arguments.fail_on_break and refused:
        listed = ", ".join(f"{site.gb_ids[0]} at {where(site, folder)}" for site in refused[:_MOST])
        more = f" and {len(refused) - _MOST} more" if len(refused) > _MOST else ""
        code, why = (
            NOT_AS_IT_SHOULD_BE,
            f"{counted(len(refused), 'break is', 'breaks are')} not allowed: {listed}{more}",
        )
    else:
        return DONE
    _tell(f"exit code {code}: {plain(why)}")
    return code


def _keep_stdout(*, alone: bool) -> FileIO:
    """A way to write to standard output whatever the program does to sys.stdout.

    With `alone`, from now on the only one: what the program, C code in it and its children print goes to standard
    error. That stays so until the process ends, since a thread or an `atexit` handler of the program may print later.
    """
    _flush_stdout()
    kept = FileIO(os.dup(1), "wb")  # a buffer would be emptied once more when Python ends
    if alone:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    return kept


def _write_stdout(kept: FileIO, text: str) -> None:
    """All of it; WriteFailed where a disk behind it is full."""
    left = memoryview(text.encode("utf-8", "backslashreplace"))
    try:
        while left:
            left = left[kept.write(left) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteFailed(f"standard output: {error.strerror}; name a file with --out") from error


def _flush_stdout() -> None:
    """Python's buffer and that of C code: the latter would empty itself after everything else."""
    sys.stdout.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def _usable(stream: TextIO) -> TextIO:
    """The stream, with nothing left in it; one that leads nowhere where the program or the reader closed it."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return Path(os.devnull).open("w", encoding="utf-8")
    return stream
