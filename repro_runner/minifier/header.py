"""What a minified script says of itself, before anything else."""

from __future__ import annotations

import sys

import torch

from repro_runner.minifier.confirm import folders_of
from repro_runner.minifier.failure import Failure
from repro_runner.minifier.script import EXIT_CODES, Check


def header_lines(
    model: str, failure: Failure, check: Check, said: str, sizes: tuple[int, int], part: tuple[int, int]
) -> list[str]:
    """`said` is what the script tells of its failure; `sizes` are its operations and those of the graph it came from;
    `part` is which graph of how many that is."""
    number, graphs = part
    of_several = f", graph {number} of {graphs}" if graphs > 1 else ""
    python = ".".join(map(str, sys.version_info[:2]))
    lines = [
        check.title.format(said),
        "",
        f"{sizes[0]} of {sizes[1]} operations of {model}{of_several}. torch {torch.__version__}, Python {python}.",
    ]
    if failure.kind == "violation":
        lines.append(f"There it is: {failure.summary}")
    if check.modules:
        where = ", ".join(folders_of(check.modules))
        lines.append(f"Besides torch it needs {', '.join(check.modules)}, found in {where}: put that into PYTHONPATH.")
    return [*lines, f"{EXIT_CODES}."]
