"""Does the backend still raise the same?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from repro_runner.minifier.parts.running import results


def told(error: BaseException) -> str:
    """Class and first line of what the backend raised; Dynamo wraps it."""
    inner = getattr(error, "inner_exception", error)
    lines = str(inner).strip().splitlines() or [""]
    return f"{type(inner).__name__}: {lines[0]}"


def plain(message: str) -> str:
    """A message without what differs from run to run: sizes, addresses, numbers at the end of names."""
    return re.sub(r"0x[0-9a-fA-F]+|[\[(][\d,\s]*[\])]|_?\d+", "", message)


def check_compilation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    backend: Callable[[], Any],
    expected: str,
) -> tuple[int, str]:
    results(function, inputs())  # what this raises has nothing to do with the backend
    compiled = torch.compile(function, backend=backend(), fullgraph=True, dynamic=False)
    try:
        results(compiled, inputs())
    except Exception as error:  # noqa: BLE001 - a backend may raise anything
        return 1 if plain(told(error)) == plain(expected or told(error)) else 3, told(error)
    return 0, "it compiles and runs"
