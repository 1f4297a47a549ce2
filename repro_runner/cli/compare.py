"""`graphbreak compare a.json b.json`: how a change to a program, or another torch, changed its breaks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from registry.errors import InvalidInput, Problem
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.explain.comparison import Comparison, Saved, compare_runs
from repro_runner.explain.document import read_saved
from repro_runner.explain.render.comparison import comparison_document, comparison_markdown, comparison_text

MATCHED = """\
what is one site in both runs:
  A line with the same text in the same function and file that breaks with the same id, wherever it moved to; failing
  that, the next break with that id in that function; failing that, the same line with another id. A file is the same
  if its path is, else if its name is. Files of registry/captured hold no lines: there, types of break are compared.

exit codes:
  0 compared; 1 with --fail-on-new, if B has sites that A has not; 2 bad arguments or files
"""


def main(argv: Sequence[str]) -> int:
    """Print what changed."""
    arguments = _parser().parse_args(argv)
    comparison = compare_runs(*_read(arguments.before, arguments.after))
    print(_render(comparison, arguments.format))
    return NOT_AS_IT_SHOULD_BE if arguments.fail_on_new and comparison.new_sites else DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak compare",
        description="What a change to a program, or another torch, did to its breaks.",
        epilog=MATCHED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    saved = "what `graphbreak explain --save` or `log --format json` wrote, or a file of registry/captured"
    parser.add_argument("before", type=Path, metavar="A.json", help=saved)
    parser.add_argument("after", type=Path, metavar="B.json", help="another")
    parser.add_argument("--format", choices=["text", "json", "md"], default="text")
    parser.add_argument("--fail-on-new", action="store_true", help="exit with 1 if B has sites that A has not")
    return parser


def _read(*paths: Path) -> list[Saved]:
    runs: list[Saved] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            runs.append(read_saved(path))
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    return runs


def _render(comparison: Comparison, form: str) -> str:
    if form == "json":
        return json.dumps(comparison_document(comparison), indent=2, allow_nan=False)
    return comparison_markdown(comparison) if form == "md" else comparison_text(comparison)
