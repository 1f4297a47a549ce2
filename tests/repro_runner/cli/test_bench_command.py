"""`graphbreak bench`: rows in processes of their own, kept as soon as they are known."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InvalidInput
from repro_runner.bench.catalogue import BACKENDS, MODELS, Measurement
from repro_runner.bench.document import lay_over
from repro_runner.bench.suite import measure_in_child
from repro_runner.bench.text import render_curves, render_rows
from repro_runner.cli import main
from repro_runner.cli.bench import main as bench
from repro_runner.process import Limits
from repro_runner.runs import list_runs
from tests.conftest import ROOT
from tests.measurement_samples import EAGER_ROW, FAILED_ROW, ROW, break_cost
from tests.measurement_samples import bench as bench_file
from tests.processes import eventually, processes_with

pytestmark = [pytest.mark.torch, pytest.mark.slow]

OWN = """
import os, time
import torch

def make_model():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), torch.randn(2, 4)

def dies():
    os.abort()

def refuses():
    def model(x):
        raise ValueError("not today\\nsecond line")
    return model, torch.randn(2)

def sleeps():
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("own") / "own.py"
    file.write_text(OWN, "utf-8")
    return file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def rows_of(home: Path) -> list[dict[str, Any]]:
    (run,) = list_runs(home)
    document = run.read_json("bench.json")
    assert (document["kind"], document["schema"]) == ("bench", 1)
    return list(document["rows"])


@pytest.mark.prove
def test_a_model_of_ones_own_is_measured_with_an_empty_and_with_a_filled_cache(
    own: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--model", f"{own}:make_model", "--backend", "inductor", "--runs", "3"]
    assert bench([*arguments, "--out", str(tmp_path / "out")]) == 0
    (inductor,) = rows_of(home)
    assert inductor["compile_s"]["cold"] > 0
    assert inductor["compile_s"]["warm"] > 0
    assert (inductor["parameters"], inductor["samples"], inductor["graphs"], inductor["breaks"]) == (20, 2, 1, 0)
    assert inductor["numerics"]["passed"] is True
    (kept,) = (tmp_path / "out").iterdir()
    assert kept.name.startswith("models-2.")
    assert json.loads(kept.read_text("utf-8"))["rows"] == [inductor]
    told = capsys.readouterr().out
    assert "20 parameters; 2 to a batch" in told
    row, *legend = told.splitlines()[2:]
    assert row.split()[0] == "inductor"
    assert [line.split(":")[0] for line in legend] == ["of copy", "of matmul"]


@pytest.mark.prove
def test_a_crash_and_an_exception_cost_their_rows_and_are_told_plainly(
    own: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", f"{own}:dies", "--model", f"{own}:refuses"]
    assert bench([*models, "--backend", "eager", "--json"]) == 1
    dies, refuses = rows_of(home)
    assert re.fullmatch(r".*own\.py:\d+: the process was killed by SIGABRT while making the model", dies["cause"])
    assert re.fullmatch(r"ValueError: not today \(.*own\.py:\d+\)", refuses["cause"])
    assert json.loads(capsys.readouterr().out)["rows"] == [dies, refuses]


def test_a_hostile_file_name_can_not_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own\x1b[2J.py"
    file.write_text(OWN, "utf-8")
    assert main(["bench", "--model", f"{file}:refuses", "--backend", "eager"]) == 1
    shown = capsys.readouterr()
    assert main(["bench", "--model", f"{file}.py:refuses"]) == 2
    refused = capsys.readouterr().err
    assert "\x1b" not in shown.out + shown.err + refused
    assert all("own\\x1b[2J.py" in each for each in (shown.out, shown.err, refused))


def test_a_process_that_takes_too_long_is_ended_with_its_row(own: Path, tmp_path: Path) -> None:
    measurement = Measurement(model=f"{own}:sleeps", backend="eager")
    found = measure_in_child(measurement, Limits(seconds=0.5), {"MARK_OF_TEST": str(tmp_path)})
    assert found == {"failed": "the process took longer than 0.5 s while it started; --timeout gives it more"}
    assert processes_with(f"MARK_OF_TEST={tmp_path}") == []


@pytest.mark.prove
def test_an_interrupt_ends_the_child_and_keeps_what_had_ended(
    own: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK_OF_TEST", str(tmp_path))
    command = [sys.executable, "-m", "repro_runner", "bench", "--model", f"{own}:sleeps", "--backend", "eager"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert eventually(lambda: len(processes_with(f"MARK_OF_TEST={tmp_path}")) > 1)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in told
    assert rows_of(home) == []
    assert processes_with(f"MARK_OF_TEST={tmp_path}") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "bench: nothing to measure; give --all, --model NAME or --break-cost"),
        (["--model", "bret"], "bret: no such model; did you mean bert? One's own: MODEL.py:make_model"),
        (["--model", "x"], "x: no such model; there are bert, resnet, ssm. One's own: MODEL.py:make_model"),
        (["--model", "no.py:f", "--model", "bret"], "no.py:f: no such file"),
    ],
)
def test_what_can_not_be_measured_is_refused_before_anything_is(
    arguments: list[str], told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not home.exists()


def test_two_documents_do_not_go_into_one_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="one file for two documents; name a folder"):
        bench(["--all", "--break-cost", "--out", str(tmp_path / "x.json")])


def test_a_folder_that_can_not_be_made_is_told_before_anything_is_measured(
    own: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--all", "--out", str(own / "below")]) == 2
    assert "name another folder" in capsys.readouterr().err
    assert not home.exists()


def test_rows_take_the_place_of_their_own_and_leave_the_others() -> None:
    mamba = {**ROW, "model": "ssm"}
    before = bench_file([mamba, ROW], date="2026-01-01")
    faster = {**ROW, "throughput": 99.0}
    joined = lay_over(before, bench_file([EAGER_ROW, faster], date="2026-02-02"))
    assert joined["rows"] == [EAGER_ROW, faster, mamba]
    assert joined["environment"]["date"] == "2026-02-02"
    elsewhere = bench_file([EAGER_ROW], cores=64)
    assert lay_over(before, elsewhere) == elsewhere
    assert lay_over({}, before) == before


def test_a_file_of_something_else_is_not_written_over(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.json"
    for content in ("{", "[]", '{"kind": "evidence"}'):
        out.write_text(content, "utf-8")
        assert main(["bench", "--model", "ssm", "--out", str(out)]) == 2
        assert f"{out}: something else is there; name another file" in capsys.readouterr().err
        assert out.read_text("utf-8") == content
    assert not home.exists()


def test_without_a_gpu_one_line_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main(["bench", "--all", "--device", "cuda"]) == 2
    assert capsys.readouterr().err.startswith("torch finds no GPU here")


@pytest.mark.parametrize("argument", ["--list", "--help"])
def test_the_list_and_the_help_need_no_torch(argument: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "repro_runner", "bench", argument]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
    assert loaded.isdisjoint({"torch", "transformers", "numpy", "rich", "yaml"})
    if argument == "--list":
        assert all(name in answer.stdout for name in (*MODELS, *BACKENDS))
        assert "177,853,440" in answer.stdout


def test_the_table_shows_what_was_measured_what_failed_and_what_differs() -> None:
    wrong = {**ROW, "backend": "mock", "violations": 7, "break_ids": ["GB0025"]}
    wrong["numerics"] = {
        "passed": False,
        "verdict": "mock differs from eager in 1 of 2 values",
        "max_absolute_error": 1.0,
    }
    heading, columns, *lines = render_rows([EAGER_ROW, ROW, wrong, FAILED_ROW]).splitlines()
    assert heading == "BERT-base-multilingual: 177,853,440 parameters; 4 to a batch, each 128 tokens"
    assert columns.split()[-2:] == ["equals", "eager"]
    assert lines[0].split()[:3] == ["eager", "–", "–"]
    assert "31.4 s" in lines[1]
    assert lines[1].endswith("yes")
    assert lines[2].split()[-2:] == ["7", "NO"]
    assert lines[3:] == [
        "aot failed: was killed by SIGKILL: <b>",
        "mock breaks: GB0025",
        "mock differs from eager in 1 of 2 values",
    ]


def test_a_share_above_the_whole_is_explained() -> None:
    """Measured on an H200, where cuDNN's convolutions are in TF32."""
    rows = json.loads((ROOT / "registry/measurements/models-2.11.0-cuda.json").read_bytes())["rows"]
    told = {row["model"]: render_rows([row]) for row in rows}
    assert "245.0%" in render_rows(rows)
    assert [model for model, text in told.items() if "above 100%" in text] == ["resnet"]


def test_the_table_of_a_curve_has_a_line_per_number_of_breaks() -> None:
    heading, columns, *lines = render_curves(break_cost()["curves"]).splitlines()
    assert heading.endswith("In times of its 4 ms compiled and without a break:")
    assert columns.startswith("breaks  graphs  eager")
    assert [line.split()[0] for line in lines] == ["0", "1", "16"]
    assert lines[-1].endswith("400 µs")
