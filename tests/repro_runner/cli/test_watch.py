"""`graphbreak watch`: an answer for every save, from a parent that stays warm."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repro_runner.cli import main
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

REPRO = ROOT / "registry" / "repros" / "GB0170.py"


def answer(process: subprocess.Popen[str]) -> str:
    """The lines up to the next empty one."""
    assert process.stdout is not None
    lines = []
    while line := process.stdout.readline().strip():
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.prove
def test_every_save_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "GB0170.py"
    shutil.copy(REPRO, path)
    command = [sys.executable, "-m", "repro_runner", "watch", str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = answer(process)
        assert first.startswith("GB0170: verified\nbreaks GB0170; fullgraph GB0170\nfixed: ")
        path.write_text(REPRO.read_text("utf-8").replace("x.mean() > 0, x.sin()", "x.mean() > 0, x.cos()"), "utf-8")
        assert "fixed: result: Tensor-likes are not close!" in answer(process)
        path.write_text("this is no Python\n", "utf-8")
        assert answer(process).startswith("GB0170: failed\nimporting it raised SyntaxError")
        shutil.copy(REPRO, path)
        assert answer(process).partition("(")[0] == first.partition("(")[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


@pytest.mark.prove
def test_once_is_for_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(REPRO), "--once"]) == 0
    assert "GB0170: verified" in capsys.readouterr().out
    wrong = tmp_path / "GB0170.py"
    wrong.write_text("import nothing_of_that_name\n\n\ndef broken():\n    nothing_of_that_name()\n", "utf-8")
    assert main(["watch", str(wrong), "--once"]) == 1
    assert "importing it raised ModuleNotFoundError" in capsys.readouterr().out
    assert main(["watch", str(tmp_path / "none.py")]) == 2
