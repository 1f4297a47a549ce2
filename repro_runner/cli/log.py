"""`graphbreak log FILE…`: show the breaks in logs, traces and tracebacks, with their fixes. It does not need torch."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import InvalidInput, Problem
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.cli import PrintFile, verb_parser
from repro_runner.cli.targets import add_also, check_targets, put_text
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.explain.render.ci import CI_FORMATS, render_ci
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

if TYPE_CHECKING:
    from registry.advice import Advisor
    from registry.model import Registry
    from repro_runner.explain.site import Site
    from repro_runner.logs.analysis import LogAnalysis
    from repro_runner.logs.sources import Source

OUTPUT_FORMATS = ("terminal", "json", "md", *CI_FORMATS)
_WORTH_A_BAR = 32 * 1024 * 1024
"""Reading fewer bytes than this takes less than a second."""

EPILOG = """\
examples:
  TORCH_LOGS=graph_breaks python train.py 2> breaks.log
  graphbreak log breaks.log
  graphbreak log --summary logs/ old.log.zst             folders, too; .gz and .zst need no unpacking
  python train.py 2>&1 | graphbreak log -                also a traceback, or what pytest printed
  graphbreak log --format json trace/ > breaks.json      a TORCH_TRACE folder; --schema describes the JSON
  graphbreak log --format sarif ci.log > breaks.sarif    for CI; also github, junit and gitlab
  graphbreak log --report out/ breaks.log                report.md, and the registry's program per break

The format of each file is detected, also inside Docker's JSON and in a notebook.
A file is read up to the size it had when it was opened.

exit codes:
  0    done; breaks are no failure without --fail-on-break
  1    with --fail-on-break, there is a break
  2    the arguments are not valid, or a file could not be read completely; what could be read is shown
  130  interrupted; what was read until then is shown
"""


def main(argv: Sequence[str]) -> int:
    """Read the logs, show their breaks, and write the requested files."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if not arguments.files:
        parser.error("name a log, a folder of logs, or - for standard input")
    _check(arguments)
    try:
        return _log(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser(
        "log",
        "Find the breaks in logs, traces and tracebacks. Shows the most frequent first, with their fixes.",
        EPILOG,
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a log, a folder of logs, or - for standard input")
    parser.add_argument("--format", choices=OUTPUT_FORMATS, default="terminal", help="default: terminal")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write; default: standard output")
    add_also(parser, OUTPUT_FORMATS)
    parser.add_argument("--summary", action="store_true", help="breaks by category, with what to do")
    parser.add_argument("--torch", metavar="RELEASE", help="the release that wrote the logs, if they don't say it")
    parser.add_argument("--fail-on-break", action="store_true", help="exit code 1 if there is a break")
    parser.add_argument(
        "--report", type=Path, metavar="FOLDER", help="write a report to share: report.md and a program per break"
    )
    schema, said = "logs/log.schema.json", "print the JSON Schema of --format json"
    parser.add_argument("--schema", action=PrintFile, nargs=0, const=schema, help=said)
    return parser


def _check(arguments: argparse.Namespace) -> None:
    """Raise InvalidInput with everything that is wrong, before gigabytes are read."""
    problems = []
    if arguments.torch and not re.fullmatch(r"\d+\.\d+\.\d+(?:\+\S+)?", arguments.torch):
        problems.append(Problem(f"--torch {arguments.torch}", "write a release as torch.__version__ has it: 2.13.0"))
    problems += check_targets(arguments, "out")
    if problems:
        raise InvalidInput(problems)
    if arguments.report is not None:
        from repro_runner.fix_report import check_folder

        check_folder(arguments.report)


def _log(arguments: argparse.Namespace) -> int:
    from registry.advice import Advisor
    from registry.matching import Matcher
    from repro_runner.logs.analysis import analyse, with_titles
    from repro_runner.logs.sources import find_sources

    sources = find_sources(arguments.files)
    if not sources.found:
        raise InvalidInput(sources.problems)
    registry = merge_registry(read_package())
    with _progress(sources.found) as advance:
        analysis = analyse(sources, Matcher.from_registry(registry), torch=arguments.torch, advance=advance)
    answers = Advisor(registry)
    analysis = with_titles(analysis, answers)
    for form, path in [*arguments.also, (arguments.format, arguments.out)]:
        put_text(_render(analysis, answers, arguments, form), path)
    if arguments.report is not None:
        _write_fix_report(analysis, registry, arguments.report)
    return _verdict(analysis, arguments)


def _write_fix_report(analysis: LogAnalysis, registry: Registry, folder: Path) -> None:
    from repro_runner.fix_report import findings_of_logs, write_fix_report

    written = write_fix_report(folder, findings_of_logs(analysis), registry)
    print(f"{written.report} written, and {counted(len(written.repros), 'program')}", file=sys.stderr)


def _render(analysis: LogAnalysis, answers: Advisor, arguments: argparse.Namespace, form: str) -> str:
    if form == "json":
        from repro_runner.logs.document import analysis_document

        return json.dumps(analysis_document(analysis, answers), indent=1) + "\n"

    from repro_runner.logs.view import describe_commands, find_commands, view_analysis

    folder = Path.cwd()
    view = view_analysis(analysis, answers, folder=folder)
    if form in CI_FORMATS:
        none: frozenset[Site] = frozenset()
        return render_ci(form, analysis.breaks, view, allowed=none, folder=folder, fails=arguments.fail_on_break)
    if form == "md":
        from repro_runner.explain.render.formats import render_markdown

        with_commands = replace(view, notes=(*view.notes, *describe_commands(analysis)))
        return render_markdown(with_commands, summary=arguments.summary)

    from repro_runner.explain.render.terminal import Screen, render_terminal, screen_of

    screen = screen_of(sys.stdout) if arguments.out is None else Screen()
    # Commands are never wrapped, so that they can be copied.
    commands = "".join(f"\nthis makes a log that can tell:\n\n{command}\n" for command in find_commands(analysis))
    return render_terminal(view, screen, summary=arguments.summary) + commands


def _verdict(analysis: LogAnalysis, arguments: argparse.Namespace) -> int:
    """The exit code. If it is not 0, the reasons are printed on standard error."""
    for problem in analysis.problems:
        print(plain(problem), file=sys.stderr)
    if analysis.interrupted:
        print("interrupted; what was read up to there is shown", file=sys.stderr)
        return INTERRUPTED
    if analysis.problems:
        return REFUSED
    if arguments.fail_on_break and analysis.breaks:
        print(f"exit code 1: {counted(len(analysis.breaks), 'break')}", file=sys.stderr)
        return NOT_AS_IT_SHOULD_BE
    return DONE


@contextmanager
def _progress(sources: Sequence[Source]) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on a terminal, unless the logs are so small that they are read at once."""
    from repro_runner.logs.sources import count_bytes

    total = count_bytes(sources)
    if not sys.stderr.isatty() or (total is not None and total < _WORTH_A_BAR):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(bar_width=30), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda count: bar.advance(task, count)
