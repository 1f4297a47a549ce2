"""`graphbreak compare a.json b.json`: what a change to a program, or another torch, changed: breaks, or evidence."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from registry.datafile import read_data_file
from registry.documents import head
from registry.errors import InvalidInput, Problem
from registry.evidence import KIND
from registry.evidence_changes import RUN_GROUPS, Turn, compare_evidence
from registry.evidence_file import Document, parse_document
from repro_runner.cli import verb_parser
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.explain.comparison import Comparison, Saved, compare_runs
from repro_runner.explain.document import read_saved
from repro_runner.explain.render.comparison import comparison_document, comparison_markdown, comparison_text
from repro_runner.process import run_attached, temporary_folder
from repro_runner.torch_environments import Unavailable, installed, verb_command

MATCHED = """\
how a site of A is found in B:
  First by the text of its line, its id, function and file, even if the line moved. Then by its id and function. Then by
  its line, with another id. Files are the same if their paths are equal, or else their names. Files of
  registry/captured have no lines: there, types of break are compared.

Two files of registry/evidence:
  Programs that started or stopped breaking, that gained or lost a working fix, or that give another id. With
  --fail-on-new: exit code 1 if one started to break or to fail, or lost a fix.

exit codes:
  0 compared; 1 with --fail-on-new, if B has sites that A does not have; 2 bad arguments or files
"""


def main(argv: Sequence[str]) -> int:
    """Print what changed."""
    arguments = _parser().parse_args(argv)
    evidence = [path for path in (arguments.before, arguments.after) if _is_evidence(path)]
    if len(evidence) == 2:
        return _compare_evidence(arguments)
    if evidence:
        other = arguments.after if evidence[0] == arguments.before else arguments.before
        read_saved(other)  # raises if it is none of a run, either
        raise InvalidInput([Problem(str(other), f"no evidence, as {evidence[0]} is; two of a kind can be compared")])
    comparison = compare_runs(*_read(arguments.before, arguments.after))
    print(_render(comparison, arguments.format))
    return NOT_AS_IT_SHOULD_BE if arguments.fail_on_new and comparison.new_sites else DONE


def _is_evidence(path: Path) -> bool:
    """Other files are read by `read_saved`, which says what is wrong with them."""
    try:
        return bool(json.loads(path.read_bytes()).get("kind") == KIND)
    except (OSError, ValueError, AttributeError):
        return False


def _compare_evidence(arguments: argparse.Namespace) -> int:
    before, after = (parse_document(read_data_file(path), str(path)) for path in (arguments.before, arguments.after))
    turns = compare_evidence(before, after)
    if arguments.format == "json":
        environments = {"before": before["environment"], "after": after["environment"]}
        document = {**head("evidence comparison"), **environments, "changes": [asdict(turn) for turn in turns]}
        print(json.dumps(document, indent=2))
    else:
        print("\n".join(_evidence_lines(before, after, turns, as_list="- " if arguments.format == "md" else "  ")))
    return NOT_AS_IT_SHOULD_BE if arguments.fail_on_new and any(turn.is_worse for turn in turns) else DONE


def _evidence_lines(before: Document, after: Document, turns: Sequence[Turn], as_list: str) -> Iterator[str]:
    places = [document["environment"] for document in (before, after)]
    yield " -> ".join(f"torch {place['torch']}, Python {place['python']}, {place['device']}" for place in places)
    for group, title in RUN_GROUPS.items():
        if found := [turn for turn in turns if turn.group == group]:
            yield f"\n{title}: {len(found)}\n"
            for turn in found:
                yield f"{as_list}{turn.program} ({turn.backend}): {turn.before} -> {turn.after}"
    if not turns:
        yield "nothing changed"


def compare_with_release(release: str, words: Sequence[str], form: str) -> int:
    """Run `graphbreak explain WORDS` with the torch that is installed, then with another; print what is different."""
    try:
        with installed(release, keep=True) as python, temporary_folder("graphbreak-compare-") as folder:
            runs = [Path(folder, "here.json"), Path(folder, "there.json")]
            for file, interpreter in zip(runs, (sys.executable, python), strict=True):
                # The other release finds everything but torch, and what came with it, in the packages that are here.
                packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
                command = verb_command(interpreter, ["explain", "--format=json", *words], packages)
                with file.open("wb") as stream:
                    code = run_attached(command, stream)
                if code == INTERRUPTED or not file.stat().st_size:
                    return code
            print(_render(compare_runs(*_read(*runs)), form))
            return DONE
    except Unavailable as error:
        print(error, file=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("compare", "Compare the breaks of two runs, for example before and after a change.", MATCHED)
    saved = "what `graphbreak explain --save` or `log --format json` wrote, or a file of registry/captured or evidence"
    parser.add_argument("before", type=Path, metavar="A.json", help=saved)
    parser.add_argument("after", type=Path, metavar="B.json", help="the other run")
    parser.add_argument("--format", choices=["text", "json", "md"], default="text")
    parser.add_argument("--fail-on-new", action="store_true", help="exit code 1 if B has sites that A does not have")
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
