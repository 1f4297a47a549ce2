"""`graphbreak report MODEL.py:make_model`: everything in one run, each part in spite of the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import html5lib
import pytest

from repro_runner.cli import main
from repro_runner.report import read_contents
from repro_runner.runs import RunFolder, list_runs
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 6)

    def forward(self, x):
        x = torch.erf(self.linear(x))
        if x.sum() > 0:
            return x + 1
        return x - 1


def make_model():
    print("a model may print")
    return Model(), torch.ones(4, 8)
"""
DEVICE = "name: <npu>\nunsupported_ops: [erf]\n"
DYING = """
import os
from pathlib import Path

MARKER = Path(__file__).with_name("died")


def compile(*_, **__):
    if MARKER.exists():
        raise RuntimeError("there is no compiler here")
    MARKER.touch()
    os.abort()


torch.compile = compile
"""

HANGING = DYING.replace("os.abort()", "time.sleep(600)").replace("import os", "import time").replace("died", "hung")


def line_of(text: str, file: Path) -> int:
    return 1 + file.read_text("utf-8").partition(text)[0].count("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "model.py").write_text(MODEL, "utf-8")
    (folder / "dying.py").write_text(MODEL + DYING, "utf-8")
    (folder / "hanging.py").write_text(MODEL + HANGING, "utf-8")
    (folder / "npu.yml").write_text(DEVICE, "utf-8")
    (folder / "wrong.yml").write_text("unsupported_opps: [erf]\n", "utf-8")
    return folder


def report(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GRAPHBREAK_HOME": str(folder / "runs"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "repro_runner", "report", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def whole(folder: Path) -> subprocess.CompletedProcess[str]:
    return report(folder, "model.py:make_model", "--device-file", "npu.yml", "--seed", "3")


@pytest.fixture(scope="module")
def run(whole: subprocess.CompletedProcess[str]) -> RunFolder:
    path = Path(whole.stdout.strip())
    assert path.name == "report.html"
    return RunFolder(path.parent)


def test_one_run_holds_check_diff_and_guards_of_the_model(run: RunFolder) -> None:
    contents = read_contents(run)
    assert (contents.manifest["verb"], contents.manifest["seed"]) == ("report", 3)
    assert set(contents.documents) == {"violations", "op_support", "breaks", "numerics", "guards"}
    assert (contents.failures, contents.unreadable) == ({}, {})
    assert len(contents.graphs) == 2
    assert contents.documents["op_support"]["device"] == "<npu>"
    assert [each["gb_id"] for each in contents.documents["breaks"]["breaks"]] == ["GB0170"]


def test_the_verdicts_are_told_and_the_path_alone_is_on_standard_output(
    whole: subprocess.CompletedProcess[str],
) -> None:
    assert whole.returncode == 1
    assert whole.stdout.count("\n") == 1
    assert "a model may print" in whole.stderr
    lines = [line for line in whole.stderr.splitlines() if line.startswith(("✓", "!", "✗", "·"))]
    assert lines[0] == "✗  Device limits  1 violation on 1 line of the program: unsupported-op (1)"
    assert lines[1].startswith("!  Op support     <npu> refuses 1 of ")
    assert lines[2:4] == [
        "!  Graph breaks   1 break: GB0170",
        "✓  Numerics       inductor equals eager in 1 value",
    ]


def test_the_page_of_a_real_run_is_valid_and_shows_every_part(run: RunFolder) -> None:
    page = (run.path / "report.html").read_bytes()
    html5lib.HTMLParser(strict=True).parse(page)
    text = page.decode("utf-8")
    assert "damaged" not in text
    assert "can't be read" not in text
    for shown in ("&lt;npu&gt;", "x = torch.erf(self.linear(x))", "gb/gb0170.html", "data:image/png;base64,"):
        assert shown in text


@pytest.mark.parametrize("kind", ["summary", "constraints", "graphs", "guards"])
def test_a_real_run_can_be_analysed(run: RunFolder, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(run.path), "--type", kind]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{run.id}  model.py:make_model\n")
    assert {
        "summary": "!  Graph breaks   1 break: GB0170",
        "constraints": "1x  aten.erf.default  float32[4, 6]  forward  this device has no such op",
        "graphs": "GB0170  ",
        "guards": "x is a float32 tensor of shape [4, 8] on cpu that does not require grad",
    }[kind] in shown


def test_a_part_that_raises_or_takes_the_process_with_it_does_not_stop_the_others(folder: Path) -> None:
    done = report(folder, "dying.py:make_model", "--format", "json")
    assert done.returncode == 1, done.stderr
    joined = json.loads(Path(done.stdout.strip()).read_bytes())
    place = f"dying.py:{line_of('os.abort()', folder / 'dying.py')}"
    died = f"{place}: the process was killed by SIGABRT while tracing the model"
    assert joined["failures"]["violations"] == f"{folder}/{died}"
    assert "there is no compiler here" in joined["failures"]["guards"]
    assert "there is no compiler here" in json.dumps([joined["failures"], joined["numerics"]])
    assert f"check failed: {died}" in done.stderr
    (run,) = [run for run in list_runs(folder / "runs") if run.id == joined["run"]["id"]]
    assert "Fatal Python error: Aborted" in (run.path / "traceback.txt").read_text("utf-8")


@pytest.mark.prove
def test_a_step_that_hangs_is_ended_and_told_and_the_others_go_on(folder: Path) -> None:
    done = report(folder, "hanging.py:make_model", "--format", "json", "--timeout", "10")
    assert done.returncode == 1, done.stderr
    joined = json.loads(Path(done.stdout.strip()).read_bytes())
    hung = "the process took longer than 10 s while tracing the model; --timeout gives it more"
    place = f"hanging.py:{line_of('time.sleep', folder / 'hanging.py')}"
    assert joined["failures"]["violations"] == f"{folder}/{place}: {hung}"
    assert "there is no compiler here" in joined["failures"]["guards"]
    assert f"check failed: {place}: {hung}" in done.stderr


@pytest.mark.prove
def test_a_model_that_takes_its_process_with_it_when_it_is_loaded_leaves_no_run(folder: Path) -> None:
    (folder / "aborting.py").write_text("import os\n\n\ndef make_model():\n    os.abort()\n", "utf-8")
    before = list_runs(folder / "runs")
    done = report(folder, "aborting.py:make_model")
    assert (done.returncode, done.stdout) == (2, "")
    assert "aborting.py:5: the process was killed by SIGABRT while making the model" in done.stderr
    assert list_runs(folder / "runs") == before


def test_what_can_not_begin_leaves_no_run(folder: Path) -> None:
    before = list_runs(folder / "runs")
    done = report(folder, "model.py:make_model", "--device-file", "wrong.yml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("wrong.yml:1: ")
    assert "did you mean" in done.stderr
    assert list_runs(folder / "runs") == before


def test_an_interruption_keeps_what_had_ended(folder: Path) -> None:
    environment = {**os.environ, "GRAPHBREAK_HOME": str(folder / "interrupted"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "repro_runner", "report", "model.py:make_model"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line == "diff …\n":
                break
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted; `graphbreak report` shows what had ended\n" in rest
    assert "Traceback" not in rest
    (run,) = list_runs(folder / "interrupted")
    assert set(read_contents(run).documents) == {"violations", "op_support", "breaks"}
