"""`graphbreak demo`: a guided tour of the toolkit on a tiny model; with --quick, one run as you like it."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import (
    add_limit_arguments,
    add_pictures,
    add_tolerances,
    check_device_file,
    positive_number,
    read_limits,
    whole_number,
)
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE
from repro_runner.process.isolated import isolation
from repro_runner.runs import RunFolder

EPILOG = """\
exit codes:
  0    everything went as it should
  1    a step did not end as it should
  2    there is no torch here, or the disk refuses
  130  interrupted; what was finished is kept
"""
QUICK_EPILOG = """\
examples:
  graphbreak demo --quick                                   tiny BERT, as it is
  graphbreak demo --quick --force-failure                   see wrong numbers found, drawn and minified
  graphbreak demo --quick --model resnet --alignment 16     a device that wants dimensions in multiples of 16
  graphbreak demo --quick --deny-op gelu --dtypes float32,int64
  graphbreak demo --quick --model model.py:make_model --limits npu.yml --backend inductor

The small models have random weights; nothing is downloaded. Every run keeps its settings, and the report shows the
command that repeats it. `graphbreak ui` has the same settings as a form.

exit codes:
  0    the report is written, and nothing is wrong with the model
  1    the report is written, and says what is wrong
  2    the arguments, the model or the capability file are not valid, or the disk refuses
  130  interrupted; what was finished is kept
"""


def main(argv: Sequence[str]) -> int:
    """Run the tour. On a terminal it waits between steps. With --quick, make one run."""
    if "--quick" in argv:
        return _quick(argv)
    parser = verb_parser(
        "demo", "A guided tour on a tiny model: check, diff, guards, minify, artifacts, report. About a minute.", EPILOG
    )
    parser.add_argument("--no-pause", action="store_true", help="do not wait for Enter between the steps")
    parser.add_argument("--quick", action="store_true", help="no tour, but one run: see `graphbreak demo --quick -h`")
    arguments, others = parser.parse_known_args(argv)
    if others:
        parser.error(
            f"{' '.join(others)}: not an option of the tour; `graphbreak demo --quick -h` shows those of one run"
        )
    waits = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.no_pause
    try:
        return _tour(waits)
    except (KeyboardInterrupt, EOFError):
        print("\ninterrupted; `graphbreak artifacts list` shows what had ended", file=sys.stderr)
        return INTERRUPTED


def _quick(argv: Sequence[str]) -> int:
    """Make one run, write its report, and print the verdicts and the command."""
    arguments = _quick_parser().parse_args(argv)
    check_device_file(arguments)
    from repro_runner.cli.report import main as report
    from repro_runner.cli.report import print_verdicts, to_stderr
    from repro_runner.demo.quick import QuickRun, take_quick_run
    from repro_runner.report import read_contents

    given = {each.name: getattr(arguments, each.name) for each in fields(QuickRun)}
    given["deny_op"] = tuple(arguments.deny_op)
    given["device_file"] = None if arguments.device_file is None else str(arguments.device_file)
    quick = QuickRun(**given)
    quick.examination()  # so that wrong settings are named before torch is looked for
    try:
        run = take_quick_run(quick, read_limits(arguments), describe_environment("cpu"), to_stderr)
    except KeyboardInterrupt:
        print("interrupted; `graphbreak report` shows what had ended", file=sys.stderr)
        return INTERRUPTED
    report([str(run.path)])
    contents = read_contents(run)
    code = print_verdicts(contents)
    if quick.force_failure and contents.documents.get("numerics", {}).get("passed"):
        from repro_runner.demo.faulty import ACTIVATIONS

        to_stderr(f"--force-failure changed nothing: this model has no {', '.join(ACTIVATIONS)}")
    to_stderr(f"run {run.id}")
    to_stderr(f"again: {quick.command()}")
    return code


def _quick_parser() -> argparse.ArgumentParser:
    parser = verb_parser(
        "demo --quick",
        "Examine a small model, or yours, with settings of your choice, and write a report: what a device\n"
        "would refuse, where a backend's numbers differ from eager's, guards and recompiles; what fails is minified.",
        QUICK_EPILOG,
    )
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--model", default="bert", metavar="NAME", help="bert, resnet, ssm, or FILE.py:function; default: bert")
    add("--batch", type=positive_number, metavar="N", help="samples in a batch of a small model; default: 2")
    add("--padding", type=whole_number, default=0, metavar="N", help=_PADDING)
    add(
        "--backend",
        default="aot",
        help="eager, inductor, mock, aot (the mock over Inductor) or module:name; default: aot",
    )
    add("--force-failure", action="store_true", help="instead of --backend: one whose activations are 1 %% too large")
    add("--gradients", action="store_true", help="run a backward, and compare gradients, too")
    add_tolerances(parser)
    add_pictures(parser)
    add("--limits", dest="device_file", type=Path, metavar="FILE.yml", help="a device's capabilities, as for `check`")
    add("--alignment", type=positive_number, metavar="N", help="every dimension has to be a multiple of N")
    add("--dtypes", default="", metavar="NAME,...", help="the dtypes that the device has: float32,int64")
    add("--max-memory", default="", metavar="SIZE", help="what a forward or a backward may hold at once: 2MiB")
    add("--deny-op", action="append", default=[], metavar="NAME", help="an op that the device lacks: gelu; repeatable")
    add("--seed", type=int, default=0, help="of weights and inputs; default: 0")
    add_limit_arguments(parser, "for each step", 300)
    return parser


_PADDING = "tokens: N more, which the mask leaves out; images: N zero pixels on each side; ssm has no padding"


def _tour(waits: bool) -> int:
    environment = describe_environment("cpu")
    from repro_runner.demo.tour import take_tour

    run = RunFolder.create("demo", subject="model.py:make_model", environment=environment)
    _print_text("A tiny model, a device that can't do all of it, and a backend with a fault: six commands.")
    with isolation("repro_runner.report.steps", "repro_runner.minifier"):  # torch is imported once for all commands
        surprises = take_tour(run, _print_text, _pause if waits else lambda: None)
    if surprises:
        _print_text("\nThese did not end as they should:")
        _print_text("\n".join(f"$ {step.command}" for step in surprises))
        return NOT_AS_IT_SHOULD_BE
    _print_text("\nThat was the tour. The report needs neither network nor script: open it in a browser.")
    return DONE


def _print_text(text: str) -> None:
    """Print sentences wrapped to the width of a page, and commands and code unchanged."""
    for line in text.split("\n"):
        kept = line.startswith(("$", " "))
        print(line if kept else textwrap.fill(line, 100, break_on_hyphens=False), flush=True)


def _pause() -> None:
    print("\n[Enter] goes on, Ctrl-C ends: ", end="", flush=True)  # `input` would print it on standard error
    input()
