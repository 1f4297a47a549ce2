"""A model or a backend that crashes, hangs, leaks or leaves costs one line, the right exit code and no empty run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro_runner.cli import main
from repro_runner.runs import RunFolder, list_runs
from tests.conftest import ROOT
from tests.processes import processes_with
from tests.scheduling import sampled

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

PROGRAM = '''\
import ctypes
import os
import signal
import sys
import time

import torch


def make_model():
    return torch.nn.Linear(4, 4), torch.ones(2, 4)


def two_ops():
    return (lambda x: torch.relu(x) + 1), torch.ones(4)


def crashing_model():
    def model(x):
        crash()
        return x

    return model, torch.ones(4)


def sleeping_model():
    time.sleep(600)


def leaving_model():
    sys.exit("not today")


def crash(*_):
    ctypes.string_at(0)  # crash


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(*_):
    time.sleep(600)  # hang


def leave(*_):
    sys.exit(3)  # leave


def vanish(*_):
    os._exit(7)


def raising(*_):
    raise RuntimeError("no kernel for this")  # raise


def leak(*_):
    return [(time.sleep(0.01), torch.ones(10_000_000)) for _ in iter(int, 1)]  # leak


def hanging_call(graph, inputs):
    return hang


def wrong_and_crashing(graph, inputs):
    """Wrong for the graph as it is; it can't take one with more outputs."""
    if len(graph.graph.output_node().args[0]) > 1:
        crash()
    return lambda *inputs: [each + 1 for each in graph(*inputs)]
'''

AT = {name: number for number, line in enumerate(PROGRAM.splitlines(), 1) if (name := line.partition("  # ")[2])}
"""What a line is for -> its number."""

ENDS = {
    "crash": "my.py:{at}: the process was killed by SIGSEGV while running the model with my:crash",
    "kill": "my.py:make_model: the process was killed by SIGKILL while running the model with my:kill",
    "hang": "my.py:{at}: the process took longer than 10 s while running the model with my:hang; "
    "--timeout gives it more",
    "leave": "my.py:{at}: the process called sys.exit(3) while running the model with my:leave",
    "vanish": "my.py:make_model: the process ended with exit code 7 while running the model with my:vanish",
    "leak": "my.py:{at}: the process used more than 1 GiB of memory while running the model with my:leak; "
    "--memory gives it more",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my.py").write_text(PROGRAM, "utf-8")
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_run(folder: Path) -> RunFolder:
    (run,) = list_runs(folder / "runs")
    return run


@pytest.mark.parametrize("fault", sampled(ENDS, 2))
def test_a_backend_that_ends_the_process_is_one_line_and_a_run_that_says_why(
    fault: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = {"hang": ["--timeout", "10"], "leak": ["--memory", "1"]}.get(fault, [])
    assert main(["diff", "my.py:make_model", "--backend", f"my:{fault}", *limits]) == 1
    told = capsys.readouterr()
    line, run = told.err.splitlines()
    assert (told.out, line) == ("", ENDS[fault].format(at=AT.get(fault)))
    assert run == f"run {only_run(folder).id}"
    why = ENDS[fault].format(at=AT.get(fault)).removeprefix("my.py:make_model: ").replace("my.py", f"{folder}/my.py")
    assert only_run(folder).read_json("failures.json")["failures"] == {"numerics": why}
    if fault in AT:
        assert f'{folder}/my.py", line {AT[fault]}' in (only_run(folder).path / "traceback.txt").read_text("utf-8")
    assert main(["analyze"]) == 0
    assert line.partition(": ")[2] in capsys.readouterr().out


@pytest.mark.parametrize("text", ["inf", "nan", "0", "soon"])
def test_a_limit_is_a_finite_number(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["diff", "my.py:make_model", "--timeout", text])
    assert f"argument --timeout: {text} is not a finite number of more than 0\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["guards", "my.py:make_model", "--backend", "my:crash"], "making the calls with torch.compile"),
        (["guards", "my.py:make_model", "--backend", "my:leave"], "making the calls with torch.compile"),
    ],
    ids=["guards, crash", "guards, leave"],
)
def test_other_verbs_say_it_in_the_same_words(
    words: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    fault = words[-1].partition(":")[2]
    how = {"crash": "was killed by SIGSEGV", "leave": "called sys.exit(3)"}[fault]
    assert capsys.readouterr().err.splitlines()[0] == f"my.py:{AT[fault]}: the process {how} while {line}"
    assert only_run(folder).has("failures.json")


@pytest.mark.parametrize(
    ("verb", "model"),
    [
        *((verb, "crashing_model") for verb in ("diff", "guards", "minify", "report")),
        *((verb, "sleeping_model") for verb in ("check", "minify", "report")),
        *((verb, "leaving_model") for verb in ("check", "diff", "guards")),
    ],
)
def test_a_model_that_fails_by_itself_is_exit_code_two_and_leaves_no_run(
    verb: str, model: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ["--timeout", "4"] if model == "sleeping_model" else []
    assert main([verb, f"my.py:{model}", *limits]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    expected = {
        "crashing_model": f"my.py:{AT['crash']}: the process was killed by SIGSEGV while",
        "sleeping_model": "the process took longer than 4 s while making the model; --timeout gives it more",
        "leaving_model": "the process called sys.exit('not today') while making the model",
    }
    assert expected[model] in line
    assert list_runs(folder / "runs") == []


def test_a_search_that_kills_the_process_leaves_the_comparison(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "my.py:two_ops", "--backend", "my:wrong_and_crashing"]) == 1
    told = capsys.readouterr().out
    assert "my:wrong_and_crashing differs from eager in 1 of 1 value" in told
    died = "the process was killed by SIGSEGV while searching for the op that is wrong"
    assert f"my.py:{AT['crash']}: {died}" in told
    assert only_run(folder).read_json("numerics.json")["first_difference"]["kind"] == "unknown"


def test_an_exception_names_the_line_of_the_backend(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "my.py:make_model", "--backend", "my:raising"]) == 1
    assert f"RuntimeError: no kernel for this (my.py:{AT['raise']})" in capsys.readouterr().out
    assert 'raise RuntimeError("no kernel for this")' in (only_run(folder).path / "traceback.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("verb", "processes", "said"),
    # The command, the server, the child; minify's child has a server and a child of its own.
    [
        ("diff", 3, ""),
        pytest.param("minify", 5, "my:hang, graph 1 of 1: compile ...\n", marks=pytest.mark.prove),
    ],
    ids=["diff", "minify"],
)
def test_an_interrupt_is_one_line_and_leaves_no_process_and_no_file(
    verb: str, processes: int, said: str, folder: Path
) -> None:
    mark = f"MARK_OF_TEST={folder}"
    (folder / "tmp").mkdir()
    own = {"PYTHONPATH": str(ROOT), "MARK_OF_TEST": str(folder), "TMPDIR": str(folder / "tmp")}
    command = [sys.executable, "-m", "repro_runner", verb, "my.py:make_model", "--backend", "my:hang"]
    with subprocess.Popen(command, env={**os.environ, **own}, stderr=subprocess.PIPE, text=True) as process:
        while len(processes_with(mark)) < processes:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert (process.returncode, told) == (130, f"{said}interrupted\n")
    assert processes_with(mark) == []
    assert list_runs(folder / "runs") == []
    assert list((folder / "tmp").glob("graphbreak-*")) == []
