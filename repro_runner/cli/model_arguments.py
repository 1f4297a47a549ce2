"""The arguments of every verb about a user's model, and types of numbers that several verbs use."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from repro_runner.process import Limits, free_memory

if TYPE_CHECKING:
    from repro_runner.model_under_test import ModelUnderTest


GIB = 1024**3
EXAMPLE_DEVICE = Path(__file__).parents[1] / "adapters" / "example_device.yml"
DEVICE = "any that torch knows: cpu, cuda, cuda:1, mps, xpu, or one that your file registers; default: cpu"


def add_model_arguments(
    parser: argparse.ArgumentParser, *, meta: bool = False, limit: str = "for all of it", seconds: int = 900
) -> None:
    """Add the arguments MODEL.py:make_model, --device and --seed, and the limits of the process that runs it."""
    parser.add_argument(
        "model",
        metavar="MODEL.py:FUNCTION",
        help="a function that returns `(model, inputs)`, or a model next to a function `make_inputs()`",
    )
    parser.add_argument("--device", type=str if meta else a_device, default="cpu", help=DEVICE)
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs; default: 0")
    add_limit_arguments(parser, limit, seconds)


def a_device(text: str) -> str:
    """A type for argparse: where tensors have values."""
    if text == "meta":
        raise argparse.ArgumentTypeError("tensors on meta have no values; only `graphbreak check` takes it")
    return text


def add_decompositions(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the argument --decompositions."""
    parser.add_argument("--decompositions", choices=["none", "core-aten", "inductor"], help=what)


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """Add the arguments --rtol and --atol."""
    for name, what in (("rtol", "relative"), ("atol", "absolute")):
        parser.add_argument(
            f"--{name}",
            type=not_negative,
            metavar="NUMBER",
            help=f"{what} tolerance of the comparison with eager; default: torch.testing's, by dtype",
        )


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Add the arguments --pictures and --no-pictures."""
    parser.add_argument(
        "--pictures",
        action=argparse.BooleanOptionalAction,
        help="draw heat maps of the errors, or don't; default: draw them if matplotlib is installed",
    )


def not_negative(text: str) -> float:
    """A type for argparse: a tolerance."""
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 on")
    return value


def add_limit_arguments(parser: argparse.ArgumentParser, what: str, seconds: int = 900) -> None:
    """Add --timeout and --memory: a process that takes more is ended."""
    parser.add_argument(
        "--timeout", type=more_than_0, default=seconds, metavar="SECONDS", help=f"{what}; default: {seconds}"
    )
    parser.add_argument(
        "--memory",
        type=more_than_0,
        metavar="GIB",
        help="resident memory that a process may use; default: three quarters of what is free",
    )


def read_limits(arguments: argparse.Namespace) -> Limits:
    """The limits of a process."""
    free = free_memory()
    default = sys.maxsize if free is None else free * 3 // 4
    return Limits(
        seconds=arguments.timeout, memory=default if arguments.memory is None else int(arguments.memory * GIB)
    )


def more_than_0(text: str) -> float:
    """A type for argparse: seconds, or a size."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number of more than 0")
    return number


def add_device_file(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the argument --device-file."""
    parser.add_argument("--device-file", type=Path, metavar="FILE", help=what)


def check_device_file(arguments: argparse.Namespace) -> None:
    """InvalidInput about a key that no capability file has, before torch is imported."""
    if arguments.device_file is not None:
        from repro_runner.marked_yaml import check_keys  # only a verb that is given such a file needs yaml

        check_keys(arguments.device_file, EXAMPLE_DEVICE)


def whole_number(text: str) -> int:
    """A type for argparse: 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def positive_number(text: str) -> int:
    """A type for argparse: 1 or more."""
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def read_model(arguments: argparse.Namespace) -> ModelUnderTest:
    """Import torch and load the model from the user's file. Raises InvalidInput if there is no model in it."""
    from repro_runner.model_under_test import load_model

    return load_model(arguments.model, device=arguments.device, seed=arguments.seed)
