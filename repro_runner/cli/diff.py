"""`graphbreak diff MODEL.py:make_model`: where a backend's numbers differ from eager's, and the first op that does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repro_runner.cli import verb_parser
from repro_runner.cli.in_child import Done, Work, print_done, run_in_child, store, tell_failure
from repro_runner.cli.model_arguments import (
    add_decompositions,
    add_model_arguments,
    not_negative,
    positive_number,
    read_model,
    whole_number,
)
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.process.isolated import IN_FLOAT64, SEARCHING, ChildFailed
from repro_runner.runs.run_folder import TRACEBACK

if TYPE_CHECKING:
    from repro_runner.diff import DiffReport
    from repro_runner.runs import RunFolder

_DESCRIPTION = """\
Run a model under two backends, from the same weights, inputs and random numbers, and compare everything it returns,
everything it writes to, and on request its gradients. Where they differ, find the first op that is computed wrongly. A
difference that a run in float64 shows to be rounding is none.
"""
_EPILOG = """\
With a function make_calls() beside the model, the calls that it returns or yields are made one after the other, as
`graphbreak guards` makes them; default: one call with the model's inputs.

exit codes: 0 equal; 1 they differ, or the backend can't run the model; 2 the model can't be run, or has no tensors, or
the disk refused to keep the result
"""


def main(argv: Sequence[str]) -> int:
    """Print the comparison, and keep it in a run's folder."""
    arguments = _parser().parse_args(argv)
    modules = ("repro_runner.diff",)
    try:
        return print_done(run_in_child("diff", argv, arguments, modules))
    except ChildFailed as failed:
        if failed.doing.words not in (SEARCHING, IN_FLOAT64):
            return tell_failure("diff", arguments, failed, "numerics")
        # The comparison itself had ended: it is worth to be made once more.
        left_out = ["--no-search"] if failed.doing.words == SEARCHING else ["--no-search", "--no-float64"]
        words, why = [*argv, *left_out], str(failed)
    try:
        return print_done(run_in_child("diff", words, arguments, modules, search_failed=why))
    except ChildFailed as failed:
        return tell_failure("diff", arguments, failed, "numerics")


def work(given: Work) -> Done:
    """In a child: compare, and write a run."""
    from repro_runner.diff import ComparisonConfig, diff_model
    from repro_runner.diff.difference import FirstDifference
    from repro_runner.model_under_test import find_calls

    arguments = _parser().parse_args(given["words"])
    subject = read_model(arguments)
    calls = find_calls(subject.name, device=arguments.device, seed=arguments.seed)
    config = ComparisonConfig(
        check_strides=arguments.strides,
        dynamic=arguments.dynamic or None,
        float64=arguments.float64,
        rtol=arguments.rtol,
        atol=arguments.atol,
        max_ulp=arguments.max_ulp,
        gradients=arguments.gradients,
        repeats=arguments.repeats,
    )
    report = diff_model(
        replace(subject, calls=calls),
        config,
        reference_backend=arguments.reference,
        test_backend=arguments.backend,
        decompositions=arguments.decompositions or "",
        find_first_op=arguments.search,
        pictures=arguments.pictures,
    )
    if given["search_failed"] and not report.passed:
        first = FirstDifference(kind="unknown", compiled=0, open=(given["search_failed"],))
        report = replace(report, first_difference=first)
    run, why = store("diff", report.model, given, report.write)
    document = {**report.to_document(), "run": None if run is None else str(run.path)}
    return Done(
        printed=json.dumps(document, indent=2) if arguments.json else _summary(report, run),
        code=DONE if report.passed else NOT_AS_IT_SHOULD_BE,
        not_stored=why,
    )


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("diff", _DESCRIPTION, _EPILOG)
    add_model_arguments(parser)
    parser.add_argument("--backend", default="inductor", help="under test: one that torch knows, or module:name")
    add_decompositions(parser, "a backend module:name gets aten's graphs after these, and not Dynamo's")
    parser.add_argument("--reference", default="eager", metavar="BACKEND", help="default: eager, without any compiler")
    parser.add_argument("--gradients", action="store_true", help="run a backward, and compare gradients, too")
    parser.add_argument("--repeats", type=positive_number, default=2, metavar="N", help="runs of each side; default: 2")
    relative = parser.add_mutually_exclusive_group()
    relative.add_argument("--rtol", type=not_negative, help="relative tolerance; default: torch.testing's, by dtype")
    relative.add_argument("--max-ulp", type=whole_number, metavar="N", help="instead: so many representable values")
    parser.add_argument("--atol", type=not_negative, help="absolute tolerance; default: torch.testing's, by dtype")
    parser.add_argument("--dynamic", action="store_true", help="with dynamic shapes, as torch.compile(dynamic=True)")
    parser.add_argument(
        "--strides",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare how outputs lie in memory, too; default: yes",
    )
    parser.add_argument("--pictures", action="store_true", help="draw heat maps and plots of the errors")
    parser.add_argument(
        "--no-float64",
        dest="float64",
        action="store_false",
        help="don't ask a run in float64 whether a difference is no more than rounding",
    )
    parser.add_argument("--no-search", dest="search", action="store_false", help="don't look for the first op")
    parser.add_argument("--json", action="store_true", help="the comparison as one JSON object")
    return parser


def _summary(report: DiffReport, run: RunFolder | None) -> str:
    hint = ["`graphbreak minify` finds the smallest program that fails so"] if report.failure else []
    if run is not None:
        hint += [f"all that was raised is in {plain(str(run.path / TRACEBACK))}"] if report.traceback else []
        hint.append(f"run {plain(run.id)}")
    return "\n".join([report.summary(), *hint])
