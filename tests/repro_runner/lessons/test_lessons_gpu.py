"""Lessons and notebooks on a real GPU. Skipped, by name, where there is none.

`PYTHONPATH=. python -m pytest --noconftest -c /dev/null` runs them where the project is not installed; the notebooks
need rich and IPython there.
"""

from __future__ import annotations

import pytest
import torch

from repro_runner.lessons.recording import ROOT, find_lessons, run_apart

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


@pytest.mark.parametrize("name", ["backends", "modes"])
def test_a_lesson_shows_as_much_as_its_run_on_a_gpu_that_is_kept(name: str) -> None:
    lesson = find_lessons()[name]
    outputs, failure = run_apart(ROOT / "examples" / lesson.file)
    assert not failure
    (kept,) = (run for run in lesson.runs if run.environment.device == "cuda")
    shown = [(bool(one["text"]), bool(one["picture"])) for one in outputs]
    assert shown == [(bool(one.text), bool(one.picture)) for one in kept.outputs]


@pytest.mark.parametrize("name", ["demo", "detector", "taxonomy"])
def test_a_notebook_runs_from_top_to_bottom(name: str) -> None:
    outputs, failure = run_apart(ROOT / "notebooks" / f"{name}.py")
    assert not failure
    assert any(one["text"] for one in outputs)
