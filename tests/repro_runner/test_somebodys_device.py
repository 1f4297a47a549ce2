"""A device that torch does not know until the user's file is imported: every verb runs a model on it.

The device is a real one to torch: a C++ library for the key PrivateUse1, which has its memory and computes on the CPU.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.cli import main
from repro_runner.runs import RunFolder, list_runs

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.prove, pytest.mark.usefixtures("one_server")]

DEVICE = Path(__file__).parent / "fixtures" / "somebodys_device"
MODEL = """\
import npu_device  # registers the device
import torch


def make_model():
    layers = torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4)
    return torch.nn.Sequential(*layers), torch.randn(2, 8)


def wrong_gelu(graph, inputs):
    for node in graph.graph.nodes:
        if "gelu" in str(node.target):
            node.target, node.kwargs = torch.relu, {}
    graph.recompile()
    return graph.forward
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("device")
    shutil.copy(DEVICE / "npu_device.py", folder)
    home = Path(torch.__file__).parent
    subprocess.run(
        [
            *("c++", "-std=c++20", "-O0", "-fPIC", "-shared", str(DEVICE / "npu.cpp"), "-o", str(folder / "libnpu.so")),
            *(f"-I{home / 'include'}", f"-L{home / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"),
        ],
        check=True,
    )
    (folder / "mine.py").write_text(MODEL, "utf-8")
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.chdir(built)
    return tmp_path


def only_run(folder: Path) -> RunFolder:
    (run,) = list_runs(folder)
    return run


def ask(*words: str) -> int:
    return main([*words, "--device", "npu"])


def test_check_traces_a_model_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("check", "mine.py:make_model") == 0
    assert "1 graph (1 with a backward), 0 breaks" in capsys.readouterr().out
    assert only_run(folder).manifest()["environment"]["device"] == "npu"


def test_diff_names_the_op_that_is_wrong_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("diff", "mine.py:make_model", "--backend", "mine:wrong_gelu", "--gradients") == 1
    assert "the first op that is computed wrongly is torch._C._nn.gelu" in capsys.readouterr().out
    first: dict[str, Any] = only_run(folder).read_json("numerics.json")["first_difference"]
    assert (first["kind"], first["op"]["position"]) == ("op", 2)


@pytest.mark.usefixtures("folder")
def test_guards_name_the_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("guards", "mine.py:make_model", "--all", "--no-trials") == 0
    assert "float32 tensor of shape [2, 8] on npu" in capsys.readouterr().out


def test_minify_writes_a_script_that_imports_the_device(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("minify", "mine.py:make_model", "--backend", "mine:wrong_gelu") == 0
    told = capsys.readouterr().out
    assert "4 operations -> 1" in told
    assert "needs besides torch: mine, npu_device" in told
    script = only_run(folder).path / "minified" / "repro.py"
    ended = subprocess.run(
        [sys.executable, script], env={"PYTHONPATH": "."}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout.partition(": ")[0]) == (1, "still fails")


def test_bench_measures_what_the_device_tells(folder: Path) -> None:
    backends = ("--backend", "eager", "--backend", "aot_eager")
    assert ask("bench", "--model", "mine.py:make_model", *backends, "--gradients", "--runs", "2") == 0
    eager, compiled = only_run(folder).read_json("bench.json")["rows"]
    assert (eager["memory"], compiled["numerics"]["passed"]) == (None, True)
    assert all(
        row["roofline"]["copy_bytes_per_s"] > 0 and row["roofline"]["of_matmul"] > 0 for row in (eager, compiled)
    )


def test_report_joins_all_of_it(folder: Path) -> None:
    assert ask("report", "mine.py:make_model", "--backend", "mine:wrong_gelu") == 1
    run = only_run(folder)
    assert run.has("violations.json") and run.has("guards.json") and not run.has("failures.json")
    assert run.read_json("numerics.json")["test"] == "mine:wrong_gelu"
