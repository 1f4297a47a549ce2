"""`graphbreak report`: write everything about a model, or all documents of a run, into one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.datafile import write_whole
from registry.documents import document_text
from registry.errors import WriteFailed
from repro_runner.cli.model_arguments import DEVICE, a_device, add_decompositions, add_limit_arguments, read_limits
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.report import RunContents, join_documents, read_contents
from repro_runner.runs import RunFolder, find_run

EPILOG = """\
With a model, one run does everything: what a device would refuse, where Inductor's numbers differ from eager's, guards
and recompiles. If a part fails, the others still run, and the report says so. With a run, the report shows what it
holds; nothing is run again.

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
    if not _is_a_model(arguments.target):
        if given := _only_for_models(parser, arguments):
            parser.error(f"{', '.join(given)}: only with MODEL.py:FUNCTION; a run is shown as it is")
        print(_write(arguments, read_contents(find_run(arguments.target))))
        return DONE
    try:
        contents = read_contents(_make_run(arguments))
    except KeyboardInterrupt:
        print("interrupted; `graphbreak report` shows what had ended", file=sys.stderr)
        return INTERRUPTED
    print(_write(arguments, contents))
    return _print_verdicts(contents)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak report",
        description="Write everything about a model, or about a run, into one HTML or JSON file.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "target",
        nargs="?",
        metavar="RUN | MODEL.py:FUNCTION",
        help="a run (its id, the start of its id, or its path), or a model to examine; default: the newest run",
    )
    parser.add_argument("--format", choices=["html", "json"], default="html", help="default: html")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: report.html or report.json of the run")
    parser.add_argument("--device-file", type=Path, metavar="FILE", help="the device's capabilities, as for `check`")
    parser.add_argument("--device", type=a_device, default="cpu", help=DEVICE)
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs; default: 0")
    parser.add_argument(
        "--backend", default="inductor", help="to compare with eager: one that torch knows, or module:name"
    )
    parser.add_argument("--gradients", action="store_true", help="compare gradients, and measure backwards, too")
    add_decompositions(parser, "for `check`; a backend module:name gets aten's graphs after these, and not Dynamo's")
    parser.add_argument("--bench", action="store_true", help="measure it, too; takes minutes")
    add_limit_arguments(parser, "for each step with a model")
    return parser


def _is_a_model(target: str | None) -> bool:
    if target is None or Path(target).is_dir():
        return False
    return ":" in target or target.endswith(".py")


def _only_for_models(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """The options that were given, and mean nothing without a model."""
    names = ("device_file", "device", "seed", "backend", "gradients", "decompositions", "bench", "timeout", "memory")
    return [f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name) != parser.get_default(name)]


def _make_run(arguments: argparse.Namespace) -> RunFolder:
    from repro_runner.report.examine import Examination, examine, measure

    examination = Examination(
        model=arguments.target,
        device=arguments.device,
        seed=arguments.seed,
        device_file=None if arguments.device_file is None else str(arguments.device_file),
        backend=arguments.backend,
        gradients=arguments.gradients,
        decompositions=arguments.decompositions or "",
    )
    limits = read_limits(arguments)
    run = examine(examination, limits, describe_environment(examination.device), _to_stderr)
    if arguments.bench:
        measure(examination, limits, run, _to_stderr)
    return run


def _to_stderr(line: str) -> None:
    print(plain(line), file=sys.stderr, flush=True)


def _write(arguments: argparse.Namespace, contents: RunContents) -> Path:
    if arguments.format == "json":
        text = document_text(join_documents(contents))
    else:
        from repro_runner.report.page import render_report

        text = render_report(contents)
    if arguments.out is None:
        return contents.run.write_text(f"report.{arguments.format}", text)
    try:
        write_whole(arguments.out, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteFailed(f"{arguments.out}: {error.strerror}; name another file with --out") from error
    return Path(arguments.out)


def _print_verdicts(contents: RunContents) -> int:
    from repro_runner.report.parts import BREAKS
    from repro_runner.report.parts.catalogue import judge_parts
    from repro_runner.report.text import summary_lines

    print("\n".join(summary_lines(contents)), file=sys.stderr)
    broken = any(each.verdict.state == BREAKS for each in judge_parts(contents))
    return NOT_AS_IT_SHOULD_BE if broken else DONE
