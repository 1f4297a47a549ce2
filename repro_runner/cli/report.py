"""`graphbreak report`: write everything about a model, all documents of a run, or several runs, into one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.datafile import write_whole
from registry.documents import document_text
from registry.errors import WriteFailed
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import (
    DEVICE,
    a_device,
    add_decompositions,
    add_device_file,
    add_limit_arguments,
    add_pictures,
    add_tolerances,
    check_device_file,
    read_limits,
)
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.report import RunContents, join_documents, read_contents
from repro_runner.report.contents import read_several
from repro_runner.report.several import reports_document
from repro_runner.report.text import markdown_lines, summary_lines
from repro_runner.runs import RunFolder, find_run, find_runs, runs_home
from repro_runner.runs.run_folder import make_home

EPILOG = """\
With a model, one run does everything: what a device would refuse, where Inductor's numbers differ from eager's, guards
and recompiles. If a part fails, the others still run, and the report says so. With a run, the report shows what it
holds; nothing is run again.
With several runs, one page puts them side by side, the worst first: pass rates, benchmarks, violations, numerics,
guards. It is written to .graphbreak/report.html, and links to the reports of these runs where they are there.

exit codes:
  0    the report is written; with a model: nothing is wrong with it
  1    the report is written, and says what is wrong with the model
  2    the arguments, the model or the capability file are not valid, or the disk refuses
  130  interrupted; `graphbreak report` shows what was finished
"""


def main(argv: Sequence[str]) -> int:
    """Write the file and print its path."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if not any(map(_is_a_model, arguments.targets)):
        if given := _only_for_models(parser, arguments):
            parser.error(f"{', '.join(given)}: only with MODEL.py:FUNCTION; a run is shown as it is")
        runs = find_runs(arguments.targets) if arguments.targets else [find_run()]
        print(_write(arguments, runs))
        return DONE
    if len(arguments.targets) > 1:
        parser.error("with MODEL.py:FUNCTION, nothing else; examine the models one by one, then report their runs")
    check_device_file(arguments)
    try:
        run = _make_run(arguments)
    except KeyboardInterrupt:
        print("interrupted; `graphbreak report` shows what had ended", file=sys.stderr)
        return INTERRUPTED
    print(_write(arguments, [run]))
    return print_verdicts(read_contents(run))


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("report", "Write everything about a model, a run, or several runs, into one file.", EPILOG)
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="RUN | MODEL.py:FUNCTION",
        help="a run (its id, the start of its id, or its path), several runs (a folder of them, or a pattern, too), "
        "or a model to examine; default: the newest run",
    )
    parser.add_argument(
        "--format", choices=["html", "json", "md"], default="html", help="default: html; md: the verdicts alone"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: report.html in the run, or beside the runs")
    add_device_file(parser, "the device's capabilities, as for `check`")
    parser.add_argument("--device", type=a_device, default="cpu", help=DEVICE)
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs; default: 0")
    parser.add_argument(
        "--backend", default="inductor", help="to compare with eager: one that torch knows, or module:name"
    )
    parser.add_argument("--gradients", action="store_true", help="compare gradients, and measure backwards, too")
    add_tolerances(parser)
    add_pictures(parser)
    add_decompositions(parser, "for `check`; a backend module:name gets aten's graphs after these, and not Dynamo's")
    parser.add_argument("--bench", action="store_true", help="measure it, too; takes minutes")
    add_limit_arguments(parser, "for each step with a model")
    return parser


def _is_a_model(target: str) -> bool:
    return not Path(target).is_dir() and (":" in target or target.endswith(".py"))


def _only_for_models(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """The options that were given, and mean nothing without a model."""
    names = ["device_file", "device", "seed", "backend", "gradients", "rtol", "atol", "pictures"]
    names += ["decompositions", "bench", "timeout", "memory"]
    return [f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name) != parser.get_default(name)]


def _make_run(arguments: argparse.Namespace) -> RunFolder:
    from repro_runner.report.examine import Examination, examine, measure

    examination = Examination(
        model=arguments.targets[0],
        device=arguments.device,
        seed=arguments.seed,
        device_file=None if arguments.device_file is None else str(arguments.device_file),
        backend=arguments.backend,
        gradients=arguments.gradients,
        decompositions=arguments.decompositions or "",
        rtol=arguments.rtol,
        atol=arguments.atol,
        pictures=arguments.pictures,
    )
    limits = read_limits(arguments)
    run = examine(examination, limits, describe_environment(examination.device), to_stderr)
    if arguments.bench:
        measure(examination, limits, run, to_stderr)
    return run


def to_stderr(line: str) -> None:
    """Show the progress of an examination."""
    print(plain(line), file=sys.stderr, flush=True)


def _write(arguments: argparse.Namespace, runs: Sequence[RunFolder]) -> Path:
    """Write the report of the run, or the one over all runs that can be read; the others are named."""
    found, unreadable = read_several(runs)
    for path, why in unreadable.items():
        to_stderr(f"{path}: left out, {why}")
    only = found[0] if len(runs) == 1 else None
    name = f"report.{arguments.format}"
    out = arguments.out or runs_home() / name
    if arguments.format == "json":
        text = document_text(join_documents(only) if only else reports_document(found, unreadable))
    elif arguments.format == "md":
        text = "\n".join(line for contents in found for line in markdown_lines(contents))
    else:
        from repro_runner.report.page import render_report, render_reports

        text = render_report(only) if only else render_reports(found, unreadable, out.absolute().parent)
    if only and arguments.out is None:
        return only.run.write_text(name, text)
    try:
        if arguments.out is None:
            make_home(out.parent)
        write_whole(out, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteFailed(f"{out}: {error.strerror}; name another file with --out") from error
    return Path(out)


def print_verdicts(contents: RunContents) -> int:
    """Print the verdict of each part; the exit code says if one of them is bad."""
    from repro_runner.report.parts import BREAKS
    from repro_runner.report.parts.catalogue import judge_parts

    print("\n".join(summary_lines(contents)), file=sys.stderr)
    broken = any(each.verdict.state == BREAKS for each in judge_parts(contents))
    return NOT_AS_IT_SHOULD_BE if broken else DONE
