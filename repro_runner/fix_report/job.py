"""What every job of a forked process says: which program to run, and how."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from repro_runner.explain.running import ProgramToRun


def program_of(job: dict[str, Any]) -> ProgramToRun:
    """The program, as `asdict` and JSON left it."""
    program = job["program"]
    return ProgramToRun(**{**program, "arguments": tuple(program["arguments"]), "compiled": tuple(program["compiled"])})


@contextmanager
def without_compiler() -> Iterator[None]:
    """torch.compile gives back what it is given, as with TORCHDYNAMO_DISABLE=1."""
    import torch

    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    with torch._dynamo.config.patch(disable=True):
        yield
