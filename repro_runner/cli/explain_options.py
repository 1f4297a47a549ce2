"""The words of `graphbreak explain`: which are its own, which the program's, and what is wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from registry.errors import InvalidInput, Problem
from repro_runner.explain.allowed import check_allow_target, read_allowed

FORMATS = ("terminal", "json", "md", "html")

USAGE = "graphbreak explain [options] SCRIPT [ARGS ...]\n       graphbreak explain [options] -m MODULE [ARGS ...]"

EPILOG = """\
examples:
  graphbreak explain train.py --epochs 1         options of explain come before the script, the script's after it
  graphbreak explain -m package.train
  graphbreak explain --summary train.py          by category: which kind of break to work on first
  graphbreak explain --format html --out breaks.html train.py
  graphbreak explain --compile model:Net.forward infer.py       for a script that does not call torch.compile
  graphbreak explain --no-fullgraph train.py     all breaks of a script that is compiled with fullgraph=True
  graphbreak explain --report handover/ train.py                report.md, repros that were run, and train_fixed.py

in CI, so that the number of breaks can't grow unseen:
  graphbreak explain --write-allow breaks.allow train.py        once: what is there today
  graphbreak explain --fail-on-break --allow breaks.allow train.py

a line of that file is an id, a file pattern, or both; x and a number is the most sites it may stand for:
  GB0124
  vendor/**                      # `*` stands for anything, slashes too
  GB0170 src/model.py x2

The program runs in this process, unchanged, with the backend it asks for. In --format json, md and html without --out,
standard output holds the document alone: what the program prints goes to standard error.

exit codes:
  0    done; breaks are no failure without --fail-on-break
  1    the program failed, or, with --fail-on-break, a break is not allowed; standard error's last line says which
  2    the arguments or a file are not valid; the program was not run
  130  interrupted; the report goes up to there
"""


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak explain",
        usage=USAGE,
        description="Run a program, and tell where its graphs break, how often, and what to do.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # All that follows the script or the module is the program's own.
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="SCRIPT", help="a script, and its arguments")
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, default=[], metavar="MODULE", help="a module, as for python -m"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--format", choices=FORMATS, default="terminal", help="default: terminal")
    shown.add_argument("--out", type=Path, metavar="FILE", help="where to; default: standard output")
    shown.add_argument("--summary", action="store_true", help="breaks by category, with the way out of each")
    shown.add_argument("--schema", action="store_true", help="print the JSON Schema of --format json, and run nothing")
    run = parser.add_argument_group("how the program is run")
    run.add_argument(
        "--compile",
        action="append",
        default=[],
        metavar="MODULE:FUNC",
        help="compile this function, method or class of the program; may be repeated",
    )
    run.add_argument("--no-fullgraph", action="store_true", help="run with fullgraph off: every break is listed")
    kept = parser.add_argument_group("what is kept and checked")
    kept.add_argument("--save", type=Path, metavar="FILE", help="the JSON document, for `graphbreak add` and `compare`")
    kept.add_argument(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="write a report to hand over, a repro per break and a fixed program; runs the program again for that",
    )
    kept.add_argument("--fail-on-break", action="store_true", help="exit code 1 if a break is not allowed")
    kept.add_argument("--allow", type=Path, metavar="FILE", help="the breaks that are allowed")
    kept.add_argument("--write-allow", type=Path, metavar="FILE", help="write a new file that allows what there is now")
    model = parser.add_argument_group("a language model's explanation; nothing is ever sent without --llm")
    model.add_argument("--llm", action="store_true", help="ask about the dearest breaks, and try the patches it gives")
    model.add_argument("--show-prompt", action="store_true", help="print what would be sent")
    model.add_argument("--llm-url", default="", metavar="URL", help="the server; default: OPENAI_BASE_URL")
    model.add_argument("--llm-model", default="", metavar="NAME", help="default: OPENAI_MODEL")
    return parser


def program_words(arguments: argparse.Namespace) -> list[str]:
    """The program and its arguments; `-mMODULE` leaves the arguments to the other list."""
    words = [*arguments.module, *arguments.command]
    return words[1:] if words[:1] == ["--"] else words


def check_options(arguments: argparse.Namespace, words: list[str]) -> None:
    """InvalidInput names everything that is wrong, before the program has run for an hour."""
    problems = [*_check_program(arguments, words[0]), *_check_targets(arguments)]
    if arguments.allow:
        problems += _refused(lambda: read_allowed(arguments.allow))
    if arguments.report:
        from repro_runner.fix_report import check_folder

        problems += _refused(lambda: check_folder(arguments.report))
    if arguments.llm:
        from repro_runner.assistant import read_settings

        problems += _refused(lambda: read_settings(url=arguments.llm_url, model=arguments.llm_model))
    if problems:
        raise InvalidInput(problems)


def _refused(check: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        check()
    except InvalidInput as error:
        return error.problems
    return ()


def _check_program(arguments: argparse.Namespace, name: str) -> Iterator[Problem]:
    if not arguments.module and not Path(name).is_file():
        yield Problem(name, "no such script; name a Python file, or a module with -m")
    for text in arguments.compile:
        module, _, function = text.rpartition(":")
        if not module or not function:
            yield Problem(f"--compile {text}", "write a module and a function in it: --compile model:Net.forward")


def _check_targets(arguments: argparse.Namespace) -> Iterator[Problem]:
    for option in ("out", "save", "write_allow"):
        path: Path | None = getattr(arguments, option)
        name = f"--{option.replace('_', '-')} {path}"
        if path is not None and not path.absolute().parent.is_dir():
            yield Problem(name, "there is no such folder; make it first, or name another")
        if path is not None and path.is_dir():
            yield Problem(name, "is a folder; name a file in it")
    if arguments.write_allow:
        yield from check_allow_target(arguments.write_allow)
