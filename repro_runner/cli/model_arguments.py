"""The arguments of every verb about a user's model, and types of numbers that several verbs use."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repro_runner.model_under_test import ModelUnderTest


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments MODEL.py:make_model, --device and --seed."""
    parser.add_argument(
        "model",
        metavar="MODEL.py:FUNCTION",
        help="a function that returns `(model, inputs)`, or a model next to a function `make_inputs()`",
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to run it; default: cpu")
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs; default: 0")


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
