"""`graphbreak check MODEL.py:make_model`: what a device refuses, which ops it does not have, and what that costs."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import InvalidInput
from repro_runner.cli.model_arguments import add_model_arguments, read_model
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.runs import RunFolder

if TYPE_CHECKING:
    from repro_runner.adapters import CheckResult

_EXAMPLE = Path(__file__).parents[1] / "adapters" / "example_device.yml"

EPILOG = """\
A capability file describes the device in YAML, with no Python; `--example` prints one that explains every key.
Without one, the limits are the mock backend's, from the environment: MOCK_ALIGNMENT, MOCK_MAX_MEMORY and
MOCK_MAX_PEAK_MEMORY; the ops are listed all the same.

exit codes:
  0    the device takes the whole model
  1    it refuses something, or gets nothing at all because of breaks
  2    the arguments, the model or the capability file are not valid
"""


def main(argv: Sequence[str]) -> int:
    """Print the result and write a run. Exit code 1 if the device refuses something."""
    arguments = _parser().parse_args(argv)
    environment = describe_environment(arguments.device)
    # Output of the model goes to standard error, because it is not part of the result.
    with contextlib.redirect_stdout(sys.stderr):
        run, result = _run_check(arguments, environment)
    if arguments.json:
        print(json.dumps(result.document(run.id)))
    else:
        print(f"torch {environment['torch']}, Python {environment['python']}, {environment['device']}")
        print(f"{plain(arguments.model)}: {result.summary()}\n\nrun {run.id}")
    return NOT_AS_IT_SHOULD_BE if result.refused else DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak check",
        description="Show what a device would refuse in a model, which ops it lacks, and what falling back costs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_arguments(parser)
    parser.add_argument("--device-file", type=Path, metavar="FILE", help="the device's capabilities")
    parser.add_argument(
        "--decompositions",
        choices=["none", "core-aten", "inductor"],
        default="none",
        help="which ops to decompose first, for the device's compiler; default: none",
    )
    parser.add_argument("--inference", action="store_true", help="without gradients: there is no backward")
    parser.add_argument("--dynamic", action="store_true", help="with dynamic shapes, as torch.compile(dynamic=True)")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("--example", action=_PrintExample, nargs=0, help="print a capability file, and stop")
    return parser


class _PrintExample(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(_EXAMPLE.read_text("utf-8"), end="")
        parser.exit()


def _run_check(arguments: argparse.Namespace, environment: dict[str, str]) -> tuple[RunFolder, CheckResult]:
    from repro_runner.adapters import check_model, read_capabilities, write_check

    device = None if arguments.device_file is None else read_capabilities(arguments.device_file)
    model = read_model(arguments)
    run = RunFolder.create("check", subject=model.name, environment=environment, **_settings(arguments))
    try:
        result = check_model(
            model,
            device,
            decompositions=arguments.decompositions,
            inference=arguments.inference,
            dynamic=arguments.dynamic or None,
        )
    except InvalidInput:
        shutil.rmtree(run.path, ignore_errors=True)
        raise
    write_check(run, result)
    return run, result


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "device_file": None if arguments.device_file is None else str(arguments.device_file),
        "decompositions": arguments.decompositions,
        "inference": arguments.inference,
        "dynamic": arguments.dynamic,
        "seed": arguments.seed,
    }
