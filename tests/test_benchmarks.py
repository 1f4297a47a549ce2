"""The benchmarks as commands."""

from __future__ import annotations

import importlib
from pathlib import Path
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


def test_a_benchmark_that_runs_again_changes_its_section_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure: Any = importlib.import_module("benchmarks.measure")
    for name in ("posts", "logs"):
        text = f'"""About\n{name}.\n\nMore.\n"""\nprint("| {name} |\\n\\n| end |")\n'
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    monkeypatch.setattr(measure, "HERE", tmp_path)
    monkeypatch.setattr(measure, "README", tmp_path / "README.md")
    assert measure.main(["posts"]) == measure.main(["logs"]) == 0
    both = measure.read_sections(tmp_path / "README.md")
    assert both == {"posts": "| posts |\n\n| end |", "logs": "| logs |\n\n| end |"}
    (tmp_path / "posts.py").write_text('"""About posts."""\nprint("other")\n', "utf-8")
    assert measure.main(["posts"]) == 0
    assert measure.read_sections(tmp_path / "README.md") == {**both, "posts": "other"}
    assert "\n## About logs\n\nMore.\n" in (tmp_path / "README.md").read_text("utf-8")
    assert measure.main(["no such"]) == 2
    assert "no such benchmark: no such" in capsys.readouterr().err


def test_the_committed_figures_are_read_back() -> None:
    measure: Any = importlib.import_module("benchmarks.measure")
    sections = measure.read_sections(measure.README)
    assert measure.readme_of(sections) == measure.README.read_text("utf-8")
    assert len(sections) >= 8
