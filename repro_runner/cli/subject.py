"""The arguments that every verb about a user's model has."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repro_runner.model_under_test import ModelUnderTest


def add_subject_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL.py:make_model, --device and --seed."""
    parser.add_argument(
        "model",
        metavar="MODEL.py:FUNCTION",
        help="a function that returns `(model, inputs)`, or a model beside a function `make_inputs()`",
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to run it; default: cpu")
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs; default: 0")


def read_subject(arguments: argparse.Namespace) -> ModelUnderTest:
    """Import torch, then the user's file; InvalidInput if there is no model in it."""
    from repro_runner.model_under_test import load_model

    return load_model(arguments.model, device=arguments.device, seed=arguments.seed)
