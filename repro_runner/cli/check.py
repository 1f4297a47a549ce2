"""`graphbreak check MODEL.py:make_model`: what a device refuses, which ops it does not have, and what that costs."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from registry.errors import InvalidInput, Problem
from repro_runner.cli import verb_parser
from repro_runner.cli.in_child import Done, Work, run_verb, store
from repro_runner.cli.model_arguments import (
    EXAMPLE_DEVICE,
    add_decompositions,
    add_device_file,
    add_model_arguments,
    check_device_file,
    read_model,
)
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.runs import RunFolder

if TYPE_CHECKING:
    from repro_runner.adapters import CheckResult

EPILOG = """\
A capability file describes the device in YAML, with no Python; `--example` prints one that explains every key.
Without one, the limits are the mock backend's, from the environment: MOCK_ALIGNMENT, MOCK_DTYPES, MOCK_LAYOUT,
MOCK_DENY_OPS, MOCK_MAX_MEMORY and MOCK_MAX_PEAK_MEMORY; the ops are listed all the same.

exit codes:
  0    the device takes the whole model
  1    it refuses something, or gets nothing at all because of breaks
  2    the arguments, the model or the capability file are not valid; or the disk refused to keep the result
"""


def main(argv: Sequence[str]) -> int:
    """Print the result and write a run. Exit code 1 if the device refuses something."""
    arguments = _parser().parse_args(argv)
    check_device_file(arguments)
    return run_verb("check", argv, arguments, "repro_runner.adapters", kind="violations")


def work(given: Work) -> Done:
    """In a child: check the model, and write a run."""
    from repro_runner.adapters import check_model, read_capabilities, write_check

    arguments = _parser().parse_args(given["words"])
    device = None if arguments.device_file is None else read_capabilities(arguments.device_file)
    with _tensors(arguments) as places:
        with places:
            model = read_model(arguments)
        result = check_model(
            model,
            device,
            decompositions=arguments.decompositions or "none",
            inference=arguments.inference,
            dynamic=arguments.dynamic or None,
        )
    run, why = store("check", model.name, given, lambda run: write_check(run, result), **_settings(arguments))
    document = result.document("" if run is None else run.id)
    return Done(
        printed=json.dumps(document) if arguments.json else _text(arguments, result, given, run),
        code=NOT_AS_IT_SHOULD_BE if result.refused else DONE,
        not_stored=why,
    )


@contextlib.contextmanager
def _tensors(arguments: argparse.Namespace) -> Iterator[contextlib.AbstractContextManager[Any]]:
    """Inside the block, tensors are real ones; with --fake, or on `meta`, they have neither memory nor values. It
    yields a context in which the model has to be made. InvalidInput if the model needs values."""
    if not arguments.fake and arguments.device != "meta":
        yield contextlib.nullcontext()
        return
    import torch

    from repro_runner.model_under_test import ModelFailed
    from repro_runner.torch_seams import FakeTensorMode

    try:
        with FakeTensorMode() if arguments.fake else contextlib.nullcontext():
            yield torch.device(arguments.device)
    except ModelFailed as error:
        remedy = f"such tensors have no values: leave out {'--fake' if arguments.fake else '--device meta'}"
        raise InvalidInput([Problem(each.where, f"{each.message}; {remedy}") for each in error.problems]) from error


def _text(arguments: argparse.Namespace, result: CheckResult, given: Work, run: RunFolder | None) -> str:
    environment = given["manifest"]["environment"]
    where = f"torch {environment['torch']}, Python {environment['python']}, {environment['device']}"
    kept = "" if run is None else f"\n\nrun {run.id}"
    return f"{where}\n{plain(arguments.model)}: {result.summary()}{kept}"


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser(
        "check", "Show what a device would refuse in a model, which ops it lacks, and what falling back costs.", EPILOG
    )
    add_model_arguments(parser, meta=True)
    add_device_file(parser, "the device's capabilities")
    add_decompositions(parser, "which ops to decompose first, for the device's compiler; default: none")
    parser.add_argument("--inference", action="store_true", help="without gradients: there is no backward")
    parser.add_argument("--fake", action="store_true", help="make it without memory for weights, for a large model")
    parser.add_argument("--dynamic", action="store_true", help="with dynamic shapes, as torch.compile(dynamic=True)")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("--example", action=_PrintExample, nargs=0, help="print a capability file, and stop")
    return parser


class _PrintExample(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(EXAMPLE_DEVICE.read_text("utf-8"), end="")
        parser.exit()


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "device_file": None if arguments.device_file is None else str(arguments.device_file),
        "decompositions": arguments.decompositions or "none",
        "inference": arguments.inference,
        "fake": arguments.fake,
        "dynamic": arguments.dynamic,
        "seed": arguments.seed,
    }
