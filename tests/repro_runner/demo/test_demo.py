"""`graphbreak demo`: the whole tour, on a terminal and without one."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import html5lib
import pytest

from repro_runner.report import read_contents
from repro_runner.runs import RunFolder, list_runs
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.prove]

PROMPT = "[Enter] goes on, Ctrl-C ends: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


def environment() -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name != "GRAPHBREAK_HOME"}, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    """Everything that a terminal shows of the tour; Enter is pressed when it asks for it, and not before."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "repro_runner", "demo"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        shown, answered = "", 0
        with contextlib.suppress(OSError):  # how a terminal says that the other side is gone
            while more := os.read(ours, 4096):
                shown += more.decode("utf-8", "replace")
                if shown.count(PROMPT) > answered:
                    answered += 1
                    os.write(ours, b"\n")
        assert process.stderr is not None
        told = process.stderr.read().decode()
    os.close(ours)
    assert process.returncode == 0, shown + told
    assert "Traceback" not in told
    return shown.replace("\r\n", "\n")


def test_on_a_terminal_it_waits_before_each_step(shown: str) -> None:
    assert shown.count(PROMPT) == 6
    assert re.findall(r"^(\d)\. ", shown, re.MULTILINE) == list("123456")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("check model.py:make_model --device-file device.yml", "aten.gelu.default  this device has no such op"),
        ("check model.py:make_model --device-file device.yml", "GB0170  model.py:16  https://meta-pytorch.github.io/"),
        (
            "diff model.py:make_model --backend faulty:backend --pictures",
            "In graph 1 of 2 (5 ops) the first op that is computed wrongly is torch._C._nn.gelu",
        ),
        ("guards model.py:make_model", "dimension 0 of x was 4, now 5"),
        ("guards model.py:make_model", "torch.compile(model, dynamic=True)"),
        ("minify model.py:make_model --device-file device.yml", "5 operations -> 1"),
        ("minify model.py:make_model --device-file device.yml", "confirmed: still fails: aten.gelu.default"),
        ("artifacts list", "5 runs, "),
    ],
)
def test_each_step_shows_its_command_and_what_it_finds(shown: str, command: str, found: str) -> None:
    _, _, rest = shown.partition(f"\n$ graphbreak {command}\n")
    assert found in rest.partition(PROMPT)[0]


def test_it_ends_with_a_report_of_everything(shown: str, folder: Path) -> None:
    (run,) = [each for each in list_runs(folder / ".graphbreak") if "-demo-" in each.id]
    assert f"\n{run.path / 'report.html'}\n" in shown
    contents = read_contents(run)
    assert set(contents.documents) == {"violations", "op_support", "breaks", "numerics", "guards", "minified"}
    assert len(contents.graphs) == 2
    page = (run.path / "report.html").read_bytes()
    html5lib.HTMLParser(strict=True).parse(page)
    assert b"damaged" not in page


def test_its_commands_can_be_repeated_as_they_are_shown(shown: str) -> None:
    lines = [line[2:] for line in shown.splitlines() if line.startswith("$ ")]
    assert [line.split()[0] for line in lines[:3]] == ["cd", "export", "cat"]
    assert all(line.startswith("graphbreak ") for line in lines[3:])
    again = [*lines[:3], lines[-2].replace("graphbreak", f"{sys.executable} -m repro_runner")]
    done = subprocess.run(
        ["bash", "-ec", "\n".join(again)], env=environment(), capture_output=True, text=True, check=True
    )
    assert "class TinyModel" in done.stdout
    assert "5 runs, " in done.stdout


@pytest.mark.prove
def test_without_a_terminal_it_does_not_wait_and_an_interruption_is_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "repro_runner", "demo"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            assert PROMPT not in line
            if line.startswith("2. "):
                break
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.endswith("interrupted; `graphbreak artifacts list` shows what had ended\n")
    assert "Traceback" not in told
    runs = list_runs(tmp_path / ".graphbreak")
    assert [run.id.split("-")[2] for run in runs][:2] == ["demo", "check"]
    assert RunFolder(runs[1].path).has("violations.json")
