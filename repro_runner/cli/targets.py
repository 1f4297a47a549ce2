"""Where commands write: --out, and further formats of the same run with --also. And --fail-under."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from registry.datafile import write_data_file
from registry.errors import Problem


def add_also(parser: argparse._ActionsContainer, formats: Sequence[str]) -> None:
    """Add --also FORMAT=FILE."""
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        type=_format_and_file([one for one in formats if one != "terminal"]),
        metavar="FORMAT=FILE",
        help="write the same run in another format, too: --also sarif=breaks.sarif; may be repeated",
    )


def _format_and_file(formats: Sequence[str]) -> Callable[[str], tuple[str, Path]]:
    """A type for argparse."""

    def parse(text: str) -> tuple[str, Path]:
        form, _, file = text.partition("=")
        if form not in formats or not file:
            raise argparse.ArgumentTypeError(f"{text!r}: write FORMAT=FILE, with one of {', '.join(formats)}")
        return form, Path(file)

    return parse


def put_text(text: str, out: Path | None) -> None:
    """Print a text, or write it into a file. Characters that the encoding does not have are spelt out."""
    encoding = "utf-8" if out else sys.stdout.encoding or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    if out is None:
        sys.stdout.write(text)
    else:
        write_data_file(out, text)


def check_targets(arguments: argparse.Namespace, *options: str) -> Iterator[Problem]:
    """What is wrong with the files that these options and --also name, before anything is run."""
    named: Mapping[str, Path | None] = {f"--{one.replace('_', '-')}": getattr(arguments, one) for one in options}
    for option, path in [*named.items(), *((f"--also {form}", path) for form, path in arguments.also)]:
        if path is None:
            continue
        if not path.absolute().parent.is_dir():
            yield Problem(f"{option} {path}", "there is no such folder; make it first, or name another")
        if path.is_dir():
            yield Problem(f"{option} {path}", "is a folder; name a file in it")


def check_fail_under(arguments: argparse.Namespace) -> Iterator[Problem]:
    """What is wrong with --fail-under."""
    if arguments.fail_under is not None and not 0 <= arguments.fail_under <= 100:
        yield Problem(f"--fail-under {arguments.fail_under:g}", "is not a percentage; give a number from 0 to 100")
