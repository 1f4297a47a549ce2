"""The benchmark on a real GPU. Skipped, by name, where there is none; see test_gpu.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bench")
    command = [sys.executable, "-m", "repro_runner", "bench", "--model", "ssm", "--break-cost", "--size", "tiny"]
    command += ["--backend", "eager", "--backend", "inductor", "--device", "cuda", "--runs", "3"]
    environment = {**os.environ, "GRAPHBREAK_HOME": str(folder / "home")}
    subprocess.run([*command, "--out", str(folder / "out")], cwd=ROOT, env=environment, check=True)
    found = [json.loads(path.read_text("utf-8")) for path in (folder / "out").iterdir()]
    return {document["kind"]: document for document in found}


def test_rows_are_of_the_gpu_and_count_its_memory(documents: dict[str, Any]) -> None:
    document = documents["bench"]
    assert document["environment"]["device_name"] == torch.cuda.get_device_name()
    assert "allocator" in document["memory_is"]
    for row in document["rows"]:
        assert row["memory"] >= row["parameters"] * 4
        assert row["clock"] == "wall time"
    assert document["rows"][1]["numerics"]["passed"] is True


def test_the_curve_is_of_the_gpu(documents: dict[str, Any]) -> None:
    document = documents["break_cost"]
    assert document["environment"]["device"] == "cuda"
    assert [point["graphs"] for point in document["curves"][0]["points"]] == [1, 2]
