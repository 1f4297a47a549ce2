"""The toolkit on a real GPU, with a backend whose gelu is a kernel in Triton. Skipped, by name, where there is no GPU.

It needs pytest, torch and triton, and nothing that has to be installed besides.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BACKEND = Path(__file__).parent / "fixtures" / "triton_backend.py"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


class Commands:
    """Runs commands in a folder with the model, and reads what they left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(BACKEND, folder)

    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "GRAPHBREAK_ARTIFACTS": "1",
            **variables,
            "GRAPHBREAK_HOME": str(self.folder / "runs"),
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-m", "repro_runner", *words, "--device", "cuda"]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def document(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(next((self.folder / "runs").glob(f"*/{name}")).read_text("utf-8"))
        return found


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


MODEL = "triton_backend.py:make_model"


def test_check_lists_what_a_device_refuses_of_a_model_on_the_gpu(commands: Commands) -> None:
    (commands.folder / "device.yml").write_text("unsupported_ops: [gelu]\n", "utf-8")
    ended = commands("check", MODEL, "--device-file", "device.yml")
    assert ended.returncode == 1, ended.stderr
    assert "aten.gelu.default  this device has no such op" in " ".join(ended.stdout.split(" ")).replace("   ", "  ")


def test_diff_finds_a_right_kernel_equal_and_names_the_op_of_a_wrong_one(commands: Commands) -> None:
    right = commands("diff", MODEL, "--backend", "triton_backend:right")
    assert (right.returncode, "triton_backend:right equals eager in 1 value" in right.stdout) == (0, True), right.stdout
    wrong = commands("diff", MODEL, "--backend", "triton_backend:leaves_out_the_rest")
    assert wrong.returncode == 1
    assert "the first op that is computed wrongly is torch._C._nn.gelu" in wrong.stdout, wrong.stdout


def test_a_kernel_that_writes_beyond_its_memory_is_one_line(commands: Commands) -> None:
    ended = commands("diff", MODEL, "--backend", "triton_backend:writes_beyond")
    assert ended.returncode == 1
    assert "illegal memory access" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("kind", "words", "variables", "found"),
    [
        ("violation", (), {"MOCK_ALIGNMENT": "16"}, "shape-alignment"),
        ("compile", ("--backend", "triton_backend:writes_beyond"), {}, "illegal memory access"),
        ("numeric", ("--backend", "triton_backend:leaves_out_the_rest"), {}, "differs from eager"),
        ("break", (), {}, "GB0170"),
    ],
)
def test_every_kind_of_failure_is_minified_and_confirmed(
    kind: str, words: tuple[str, ...], variables: dict[str, str], found: str, commands: Commands
) -> None:
    model = "triton_backend.py:breaking" if kind == "break" else MODEL
    ended = commands("minify", model, "--kind", kind, *words, **variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    document = commands.document("minified.json")
    assert document["confirmed"] is True
    assert found in json.dumps(document)


def test_bench_holds_the_kernel_against_what_the_gpu_reaches(commands: Commands) -> None:
    backends = ("--backend", "eager", "--backend", "triton_backend:right")
    ended = commands("bench", "--model", MODEL, *backends, "--runs", "3")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for row in commands.document("bench.json")["rows"]:
        assert 0 < row["roofline"]["of_copy"] < 1
        assert row["roofline"]["copy_bytes_per_s"] > 1e11
        assert row["memory"] > 0


def test_report_joins_all_of_it(commands: Commands) -> None:
    ended = commands("report", MODEL, "--backend", "triton_backend:leaves_out_the_rest", "--format", "json")
    assert ended.returncode == 1, ended.stderr
    joined = json.loads(Path(ended.stdout.strip()).read_text("utf-8"))
    assert joined["failures"] == {}
    assert joined["numerics"]["first_difference"]["op"]["name"] == "torch._C._nn.gelu"
