"""`graphbreak guards MODEL.py:make_model`: why a model would be compiled again, and how to avoid it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from registry.errors import InvalidInput, Problem
from repro_runner.cli import verb_parser
from repro_runner.cli.in_child import Done, Work, run_verb
from repro_runner.cli.model_arguments import add_model_arguments, read_model
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.runs import RunFolder

if TYPE_CHECKING:
    from repro_runner.guards import Call
    from repro_runner.model_under_test import ModelUnderTest

CALLS = """\
which calls are made:
  If there is a function make_calls() next to the model: the calls that it returns or yields. Each is either inputs, as
  make_inputs() returns them, or a function that gets the compiled model and calls it:

      def make_calls():
          yield torch.randn(4, 8)
          yield torch.randn(5, 8)
          yield without_grad

      def without_grad(model):
          with torch.no_grad():
              model(torch.randn(4, 8))

  Otherwise: the model's inputs twice, then with dimension 0 larger by one and by two, if the model accepts that.
  --vary chooses other dimensions; with `--vary none`, only the two equal calls are made.

exit codes:
  0 done; 1 torch reached its recompile limit, or failed to compile a call that works without it; 2 bad arguments
"""


def main(argv: Sequence[str]) -> int:
    """Inspect a model, print the result, and write guards.json and breaks.json."""
    arguments = _parser().parse_args(argv)
    _read_dimensions(arguments.vary or [])
    return run_verb("guards", argv, arguments, "repro_runner.guards", kind="guards")


def work(given: Work) -> Done:
    """In a child: inspect the model, and write a run."""
    from repro_runner.capture.breaks import breaks_document
    from repro_runner.graphs.by_name import find_backend
    from repro_runner.guards import inspect_model

    arguments = _parser().parse_args(given["words"])
    subject = read_model(arguments)
    report = inspect_model(
        subject,
        _calls(subject, arguments, _read_dimensions(arguments.vary or [])),
        backend=find_backend(arguments.backend),
        try_advice=not arguments.no_trials,
        dynamic=True if arguments.dynamic else None,
    )
    run = RunFolder.create("guards", subject=subject.name, **given["manifest"])
    run.write_json("guards.json", report.document())
    run.write_json("breaks.json", breaks_document(report.breaks))
    text = f"{report.text(everything=arguments.all)}\nrun {plain(run.id)}"
    document = json.dumps(report.document(), indent=2, ensure_ascii=False, allow_nan=False)
    return Done(
        printed=document if arguments.json else text,
        code=NOT_AS_IT_SHOULD_BE if report.failure or report.limits_hit else DONE,
    )


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("guards", "Explain a model's guards, breaks and recompiles in plain words.", CALLS)
    add_model_arguments(parser)
    parser.add_argument("--backend", default="eager", help="of torch.compile, or module:name; default: eager")
    parser.add_argument("--dynamic", action="store_true", help="compile with dynamic=True")
    parser.add_argument(
        "--vary", action="append", metavar="NAME:DIM", help="let this dimension of an argument grow, or `none`"
    )
    parser.add_argument("--no-trials", action="store_true", help="give advice without trying it on the model")
    parser.add_argument("--all", action="store_true", help="list every guard, without a summary")
    parser.add_argument("--json", action="store_true", help="guards.json on standard output instead of text")
    return parser


def _read_dimensions(texts: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    problems = []
    for text in texts:
        name, _, dimension = text.rpartition(":")
        if name and dimension.isdecimal():
            found[name] = int(dimension)
        elif text != "none":
            problems.append(Problem(f"--vary {text}", "write the argument and its dimension: --vary x:0"))
    if problems:
        raise InvalidInput(problems)
    return found


def _calls(subject: ModelUnderTest, arguments: argparse.Namespace, dimensions: dict[str, int]) -> tuple[Call, ...]:
    from repro_runner.guards import default_calls, find_calls, varied_calls

    if arguments.vary:
        return varied_calls(subject, dimensions)
    return find_calls(subject.name, device=arguments.device, seed=arguments.seed) or default_calls(subject)
