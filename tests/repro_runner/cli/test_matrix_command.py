"""`graphbreak matrix` and `graphbreak explain --against`: other releases of torch.

The environment of torch 2.13.0 is a second path to the interpreter of the tests, so nothing is downloaded.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from registry.datafile import DATA
from repro_runner.cli import main
from tests.conftest import ROOT

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
PROGRAM = """
import torch

@torch.compile(backend="eager")
def f(x):
    print("seen")
    return x + 1

f(torch.ones(2))
"""


@pytest.fixture
def second_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kept environment of torch 2.13.0, and no index from which pip could make another."""
    folder = tmp_path / "cache" / f"torch-2.13.0-python-{PYTHON}"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    (folder / "ready").touch()
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder / "bin" / "python"


def record(path: Path, program: str) -> object:
    return json.loads(path.read_text("utf-8"))["records"][program]["runs"]["eager"]


@pytest.mark.torch
@pytest.mark.slow
def test_a_release_that_fails_does_not_stop_the_others_and_nothing_is_run_twice(
    second_path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["matrix", "GB0066", "--torch", "2.99.0", "2.13.0", "--out", str(tmp_path)]
    assert main(command) == 2
    out, errors = capfd.readouterr()
    assert "\ntorch 2.99.0: there is no such release for this Python; there are " in errors
    assert out.splitlines()[-2:] == [
        "2.99.0  not run",
        "2.13.0  eager    1         0           0        0         0       0",
    ]
    found = record(tmp_path / "torch-2.13.0-cpu.json", "GB0066")
    assert found == record(DATA / "evidence" / "torch-2.13.0-cpu.json", "GB0066")
    assert second_path.exists(), "an environment that was kept stays"
    assert main([*command[:3], "2.13.0", "--resume", *command[-2:]]) == 0
    assert "nothing to run; torch-2.13.0-cpu.json" in capfd.readouterr().err


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("second_path")
def test_an_interruption_keeps_what_was_finished(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "repro_runner", "matrix", "--torch", "2.13.0", "--out", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "eager" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; --resume goes on from here\n" in errors
    assert "Traceback" not in errors
    assert json.loads((tmp_path / "torch-2.13.0-cpu.json").read_text("utf-8"))["records"]


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
def test_the_torch_that_is_installed_needs_no_environment(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path / "cache"))
    assert main(["matrix", "GB0066", "--here", "--backend", "mock", "--out", str(tmp_path)]) == 0
    assert "2.13.0  mock     1" in capfd.readouterr().out
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["matrix", "--torch", "2.13.0", "--here"], "not allowed with argument"),
        (["matrix", "--out", "/nowhere", "--torch", "2.13.0"], "no such folder; make it, or name another file"),
        (
            ["explain", "--against", "2.13.0", "--fix", "--save", "x.json", __file__],
            "--fix: does not go with --against",
        ),
        (["explain", "--against", "newest", __file__], "torch newest: not a release; name one such as 2.15.0\n"),
    ],
)
def test_what_can_not_be_done_is_told_before_anything_runs(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path))
    try:
        code = main(words)
    except SystemExit as ended:  # argparse's own
        code = int(str(ended.code))
    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.prove
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("second_path")
def test_a_script_is_compared_with_another_release(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM, "utf-8")
    assert main(["explain", "--against", "2.13.0", "--format", "json", "train.py"]) == 0
    out, errors = capfd.readouterr()
    document = json.loads(out)
    assert document["gone"] == document["new"] == []
    assert errors.count("seen\n") == 2, "the program runs with both, and its output is not on standard output"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "train.py"]
