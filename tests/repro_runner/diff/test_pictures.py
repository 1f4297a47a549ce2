"""Pictures of errors: one per tensor that differs and one of all, the same bytes every time."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from matplotlib.image import imread

from registry.errors import InvalidInput
from repro_runner.diff import ComparisonConfig, KernelDiffHarness, pictures
from repro_runner.diff.comparison import compare_leaves
from repro_runner.runs import list_runs
from repro_runner.values import Flat

pytestmark = pytest.mark.torch

CONFIG = ComparisonConfig()


def drawn(pairs: dict[str, tuple[Any, Any]], config: ComparisonConfig = CONFIG) -> dict[str, bytes]:
    reference = {name: pair[0] for name, pair in pairs.items()}
    test = {name: pair[1] for name, pair in pairs.items()}
    flats: list[Flat] = [{(name,): value for name, value in side.items()} for side in (reference, test)]
    return pictures.draw_pictures(list(compare_leaves(flats[0], flats[1], "output", config)), reference, test, config)


def pixels(picture: bytes) -> numpy.ndarray[Any, Any]:
    return numpy.asarray(imread(io.BytesIO(picture), format="png"))


def orange(picture: bytes) -> int:
    """Pixels in the colour of what is beyond tolerance."""
    return int((numpy.abs(pixels(picture)[..., :3] * 255 - (0xE0, 0x66, 0x2A)).max(-1) < 3).sum())


def test_each_tensor_that_differs_has_a_picture_and_all_have_a_bar() -> None:
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    found = drawn({"output.logits": (x, x + 0.1), "output['a/b']": (x, x * 2), "output.same": (x, x.clone())})
    assert sorted(found) == ["output-a-b.png", "output.logits.png", "summary.png"]
    assert all(picture.startswith(b"\x89PNG") for picture in found.values())
    assert all(orange(picture) > 50 for picture in found.values())


def test_where_nothing_differs_the_outputs_are_drawn() -> None:
    x = torch.rand(4, 4)
    found = drawn({"output": (x, x + 1e-7)})
    assert sorted(found) == ["output.png", "summary.png"]
    assert orange(found["output.png"]) == orange(found["summary.png"]) == 0


def test_the_same_tensors_give_the_same_bytes() -> None:
    x = torch.randn(40, 50, generator=torch.Generator().manual_seed(0))
    wrong = x.clone()
    wrong[3, 4] = math.nan
    wrong[5:9] += 0.5
    assert drawn({"output": (x, wrong)}) == drawn({"output": (x.clone(), wrong.clone())})


def test_the_ground_is_transparent() -> None:
    x = torch.rand(4, 4)
    for picture in drawn({"output": (x, x + 1)}).values():
        corner = pixels(picture)[0, 0]
        assert corner[3] == 0


@pytest.mark.prove
def test_every_kind_of_tensor_can_be_drawn() -> None:
    pairs = [
        (torch.ones(()), torch.zeros(())),
        (torch.ones(7), torch.zeros(7)),
        (torch.ones(2, 3, 4, 5), torch.zeros(2, 3, 4, 5)),
        (torch.ones(3, 1), torch.full((3, 1), math.nan)),
        (torch.full((3,), math.inf), torch.full((3,), -math.inf)),
        (torch.tensor([True, False]), torch.tensor([False, False])),
        (torch.ones(4, dtype=torch.complex64), torch.ones(4, dtype=torch.complex64) * 1j),
        (torch.ones(4).to(torch.float8_e4m3fn), torch.zeros(4).to(torch.float8_e4m3fn)),
        (torch.eye(3).to_sparse(), torch.ones(3, 3).to_sparse()),
        (torch.ones(3, 100_000), torch.zeros(3, 100_000)),
    ]
    found = drawn({f"output{place}": pair for place, pair in enumerate(pairs)})
    assert len(found) == len(pairs) + 1
    for name, picture in found.items():
        assert orange(picture) > 0 and len(picture) < 300_000, name


def test_a_single_wrong_element_of_a_large_tensor_stays_visible() -> None:
    """Pooled by the largest error: a mean, or every nth element, would lose it."""
    x = torch.zeros(1000, 900)
    wrong = x.clone()
    wrong[777, 567] = 1.0
    right, spoiled = (pixels(drawn({"output": (x, each)})["output.png"]) for each in (x + 1e-9, wrong))
    heat = numpy.s_[60:380, 60:440]
    assert (numpy.abs(right[heat] - spoiled[heat]).max(-1) > 0.1).any()


def test_what_has_no_elements_or_is_no_tensor_is_left_out() -> None:
    assert drawn({"output": (torch.ones(0), torch.ones(0))}) == {}
    assert drawn({"output": (torch.ones(2), torch.ones(3)), "name": ("a", "b")}) == {}
    assert sorted(drawn({"output": (1.0, 2.0)})) == ["summary.png"]


def test_of_many_tensors_the_worst_are_drawn() -> None:
    x = torch.zeros(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "_MOST_TENSORS", 2)
        found = drawn({f"output[{place}]": (x, x + 1 + place) for place in range(40)})
    assert sorted(found) == ["output-38.png", "output-39.png", "summary.png"]


def test_the_harness_draws_only_if_asked_to_and_keeps_what_it_draws_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    harness = KernelDiffHarness(torch.nn.ReLU(), torch.rand(3), model_name="mine", test_backend="eager")
    report = harness.compare()
    assert (report.pictures, report.run, list_runs()) == ({}, None, [])
    report = harness.compare(generate_visualizations=True)
    assert [report.run] == list_runs() and report.run is not None
    assert (report.run.manifest()["verb"], report.run.manifest()["subject"]) == ("diff", "mine")
    assert report.run.read_json("numerics.json") == report.to_document()
    kept = {path.name: path.read_bytes() for path in (report.run.path / "numerics").iterdir()}
    assert kept == report.pictures and sorted(kept) == ["output.png", "summary.png"]


def test_where_no_artifacts_are_wanted_pictures_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    harness = KernelDiffHarness(torch.nn.ReLU(), torch.rand(3), test_backend="eager")
    report = harness.compare(generate_visualizations=True)
    assert report.run is None and report.pictures and not (tmp_path / "runs").exists()


def test_matplotlib_is_needed_for_pictures_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    harness = KernelDiffHarness(torch.nn.ReLU(), torch.rand(3), test_backend="eager")
    assert harness.compare().passed
    with pytest.raises(InvalidInput, match="matplotlib is not installed; `pip install"):
        harness.compare(generate_visualizations=True)
