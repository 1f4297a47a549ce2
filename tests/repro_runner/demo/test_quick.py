"""`graphbreak demo --quick`: one run with settings of your choice, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_runner.cli import main
from repro_runner.demo.quick import FAULTY, QuickRun
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.process import Limits
from repro_runner.report import read_contents
from repro_runner.report.examine import examine, failures_to_minify
from repro_runner.runs import find_run, list_runs

MODEL = """\
import torch

def make_model():
    torch.manual_seed(0)
    body = torch.nn.Linear(4, 4)
    return torch.nn.Sequential(body, torch.nn.ReLU()), torch.randn(2, 4)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / ".graphbreak"))
    (tmp_path / "mine.py").write_text(MODEL)
    return tmp_path


def test_its_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--quick", "--help"])
    told = capsys.readouterr().out
    everything = QuickRun(
        model="m", batch=1, padding=1, rtol=1, atol=1, device_file="f", alignment=1, dtypes="d", max_memory="1", seed=1
    ).words()
    everything += QuickRun(deny_op=("o",), backend="b", pictures=False, force_failure=True, gradients=True).words()
    everything += QuickRun(timeout=1, memory=1).words()
    assert [word for word in everything if word.startswith("--") and word != "--quick" and word not in told] == []


def test_without_quick_its_settings_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["demo", "--model", "ssm"])
    assert left.value.code == REFUSED
    assert capsys.readouterr().err.splitlines()[-1].startswith("graphbreak demo: error: --model ssm: not an option of")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--model", "brt", "--max-memory", "x"],
            ["--model brt: no such model; did you mean bert?", "--max-memory: 'x'"],
        ),
        (["--model", "mine.py:make_model", "--batch", "3"], ["--batch: only with bert, resnet, ssm"]),
        (["--model", "ssm", "--padding", "1"], ["--padding: ssm has no mask"]),
        (["--limits", "no.yml"], ["no.yml"]),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_line_each(
    words: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--quick", *words]) == REFUSED
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(told)
    assert [start for start, line in zip(told, lines, strict=True) if not line.startswith(start)] == []
    assert list_runs() == []


@pytest.mark.torch
@pytest.mark.usefixtures("one_server")
def test_a_planted_fault_is_found_and_would_be_minified() -> None:
    quick = QuickRun(model="mine.py:make_model", force_failure=True, pictures=False, deny_op=("relu",))
    run = examine(quick.examination(), Limits(seconds=300), {}, lambda _: None, verb="demo", alignment=3)
    contents = read_contents(run)
    assert contents.failures == {}
    assert contents.documents["numerics"]["test"] == FAULTY
    assert contents.documents["numerics"]["first_difference"]["op"]["name"].endswith("relu")
    assert [each["op"] for each in contents.documents["violations"]["violations"]] == ["aten.relu.default"]
    assert contents.documents["guards"]["compiled_in"] == {"0/0": 1, "0/1": 3}
    assert contents.manifest["alignment"] == 3
    assert failures_to_minify(run) == ["numeric", "violation"]


@pytest.mark.torch
@pytest.mark.prove
@pytest.mark.usefixtures("one_server")
def test_a_planted_fault_is_found_shrunk_and_can_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "mine.py:make_model", "--force-failure", "--no-pictures", "--deny-op", "relu"]
    assert main(["demo", "--quick", *words]) == NOT_AS_IT_SHOULD_BE
    out, err = capsys.readouterr()
    run = find_run()
    assert out == f"{run.path / 'report.html'}\n"
    command = "graphbreak demo --quick --model mine.py:make_model --deny-op relu --no-pictures --force-failure"
    assert err.splitlines()[-2:] == [f"run {run.id}", f"again: {command}"]
    contents = read_contents(run)
    assert contents.documents["numerics"]["test"] == FAULTY
    assert contents.documents["minified"]["failure"]["kind"] == "numeric"
    assert contents.documents["minified"]["nodes"] == 1
    assert contents.manifest["command"] == command
    assert QuickRun.from_manifest(contents.manifest).command() == command
    assert len(list_runs()) == 1


@pytest.mark.torch
@pytest.mark.prove
@pytest.mark.usefixtures("one_server")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--model", "bert", "--padding", "3", "--batch", "3"], DONE),
        (["--model", "resnet", "--padding", "1", "--backend", "inductor"], DONE),
        (["--model", "ssm", "--backend", "mock", "--rtol", "1e-5"], DONE),
        (["--model", "ssm", "--alignment", "16", "--backend", "eager"], NOT_AS_IT_SHOULD_BE),
        (["--model", "bert", "--force-failure", "--rtol", "0.5", "--atol", "0.5"], DONE),
        (["--model", "resnet", "--force-failure"], NOT_AS_IT_SHOULD_BE),
        (["--model", "ssm", "--force-failure", "--gradients"], NOT_AS_IT_SHOULD_BE),
    ],
)
def test_the_small_models_take_every_setting(words: list[str], code: int, project: Path) -> None:
    assert main(["demo", "--quick", *words]) == code
    contents = read_contents(find_run())
    assert contents.failures == {}
    assert set(contents.documents) >= {"violations", "op_support", "breaks", "numerics", "guards"}
    assert ("minified" in contents.documents) == (code == NOT_AS_IT_SHOULD_BE)
    kept = json.loads((contents.run.path / "run.json").read_text())
    assert kept["command"].startswith("graphbreak demo --quick --model")
    assert list((project / ".graphbreak").glob("*-compile-*")) == []


@pytest.mark.torch
@pytest.mark.prove
@pytest.mark.usefixtures("one_server")
def test_unknown_dtypes_and_ops_are_refused_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--quick", "--model", "ssm", "--dtypes", "flaot32", "--deny-op", "gleu"]) == REFUSED
    told = capsys.readouterr().err
    assert "--dtypes: no such dtype: flaot32" in told
    assert "--deny-op: aten.gleu: no such op" in told
    assert list_runs() == []
