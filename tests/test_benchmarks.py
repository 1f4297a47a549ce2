"""The benchmarks as commands."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.mark.parametrize("arguments", [["--all", "--model", "bert"], ["--model", "resnet"], ["--help"]])
def test_the_runner_s_benchmark_names_the_command_that_measures_models(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m benchmarks.runner --all` measured models in an earlier project."""
    runner: Any = importlib.import_module("benchmarks.runner")
    assert runner.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(f"{' '.join(arguments)}: ")
    assert "`graphbreak bench --all`, `graphbreak bench --model bert`" in captured.err
