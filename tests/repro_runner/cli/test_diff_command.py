"""`graphbreak diff`: what it prints, what it leaves in the run's folder, and its exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.cli import main
from repro_runner.runs import RunFolder, list_runs
from tests.checkout import on_small_disk
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

MODEL = """
import torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 4)

    def forward(self, x, scale=1.0):
        hidden = torch.relu(self.first(x))
        return {"logits": self.second(hidden) * scale, "hidden": hidden}


def make_model():
    return Small(), (torch.randn(5, 8),), {"scale": 2.0}


def make_raising():
    def model(x):
        raise ValueError("not today")
    return model, torch.ones(3)


def make_number():
    return lambda x: x.sum().item(), torch.ones(3)


def make_writing():
    def model(x):
        x.add_(1)
    return model, torch.ones(3)


def make_plain():
    return (lambda x: x * 2), torch.ones(3)


def wrong_relu(graph, inputs):
    class Wrong(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            return value + 0.5 if getattr(node.target, "__name__", "") == "relu" else value
    return lambda *arguments: Wrong(graph).run(*arguments)


def failing(graph, inputs):
    raise NotImplementedError("no kernel for that\\nand more")


def verbose(graph, inputs):
    raise NotImplementedError("no kernel for " + "x" * 5_000_000)


def only_static(graph, inputs):
    values = [node.meta.get("example_value") for node in graph.graph.find_nodes(op="placeholder")]
    dynamic = any(isinstance(value, torch.SymInt) for value in values)
    return wrong_relu(graph, inputs) if dynamic else graph.forward
"""


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.py").write_text(MODEL, "utf-8")

    def run(function: str, *arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["diff", f"small.py:{function}", *arguments])
        except SystemExit as refused:
            code = int(refused.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def only_run(tmp_path: Path) -> tuple[RunFolder, dict[str, Any]]:
    (run,) = list_runs(tmp_path / "runs")
    return run, run.read_json("numerics.json")


def test_equal_backends_exit_with_0_and_leave_the_comparison(diff: Any, tmp_path: Path) -> None:
    code, out, err = diff("make_model", "--backend", "aot_eager", "--gradients", "--repeats", "3")
    assert (code, err) == (0, "")
    assert "aot_eager equals eager in 6 values" in out
    run, document = only_run(tmp_path)
    assert f"run {run.id}" in out
    assert run.manifest()["verb"] == "diff" and run.manifest()["subject"] == "small.py:make_model"
    assert (document["kind"], document["passed"], document["repeats"], document["gradients"]) == (
        "numerics",
        True,
        3,
        True,
    )
    assert [leaf["name"] for leaf in document["leaves"]][:3] == [
        "output['logits']",
        "output['hidden']",
        "model.first.weight.grad",
    ]


def test_a_difference_exits_with_1_and_names_the_op_and_its_line(diff: Any, tmp_path: Path) -> None:
    code, out, _ = diff("make_model", "--backend", "small.py:wrong_relu", "--pictures")
    line = MODEL.splitlines().index("        hidden = torch.relu(self.first(x))") + 1
    assert code == 1
    assert "output['logits']  float32[5, 4]" in out and "DIFFERS" in out
    assert "the first op that is computed wrongly is torch.relu (node hidden, op 2," in out
    assert f"small.py:{line})" in out
    run, document = only_run(tmp_path)
    assert document["first_difference"]["op"]["name"] == "torch.relu"
    assert document["pictures"] == ["output-hidden.png", "output-logits.png", "summary.png"]
    for name in document["pictures"]:
        assert (run.path / "numerics" / name).read_bytes().startswith(b"\x89PNG")


def test_the_search_can_be_left_out_and_the_answer_be_json(diff: Any) -> None:
    code, out, _ = diff("make_model", "--backend", "small.py:wrong_relu", "--no-search", "--json")
    document = json.loads(out)
    assert code == 1
    assert (document["passed"], document["first_difference"], document["cause"]) == (False, None, [])
    assert Path(document["run"]).is_dir()


@pytest.mark.parametrize(
    "tolerance", [("--atol", "2"), ("--rtol", "1e9", "--atol", "1"), ("--max-ulp", "4000000000", "--atol", "0")]
)
def test_a_tolerance_that_is_wide_enough_makes_it_equal(diff: Any, tolerance: tuple[str, ...]) -> None:
    assert diff("make_model", "--backend", "small.py:wrong_relu", *tolerance)[0] == 0


def test_a_backend_that_fails_exits_with_1_and_one_line(diff: Any, tmp_path: Path) -> None:
    code, out, err = diff("make_plain", "--backend", "small.py:failing")
    assert (code, err) == (1, "")
    run, document = only_run(tmp_path)
    assert re.fullmatch(r"NotImplementedError: no kernel for that \(.*small\.py:\d+\)", document["failure"])
    assert f"small.py:failing could not run it: {document['failure']}\n" in out
    assert "graphbreak minify" in out and "Traceback" not in out
    assert "Traceback" in (run.path / "traceback.txt").read_text("utf-8")


def test_a_long_message_is_cut_and_kept_whole_in_the_run(diff: Any, tmp_path: Path) -> None:
    code, out, err = diff("make_plain", "--backend", "small.py:verbose")
    assert (code, err) == (1, "") and len(out) < 1500
    assert "NotImplementedError: no kernel for xxx" in out and "… (5,000,014 characters in all)" in out
    run, _ = only_run(tmp_path)
    assert f"all that was raised is in {run.path / 'traceback.txt'}" in out
    assert "x" * 5_000_000 in (run.path / "traceback.txt").read_text("utf-8")


def test_what_was_found_is_told_although_the_disk_is_full(diff: Any, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "large").write_bytes(b"x" * 60_000)
    with on_small_disk(tmp_path / "runs", 64):
        (tmp_path / "runs" / "rest").write_bytes(b"x" * 4096)
        for more in ((), ("--json",)):
            code, out, err = diff("make_model", "--backend", "small.py:wrong_relu", *more)
            assert "the first op that is computed wrongly is torch.relu" in out.replace("The", "the")
            assert code == 2 and re.fullmatch(r"not stored: .*No space left on device; make room, or set .*\n", err)
    assert json.loads(out)["run"] is None


def test_nothing_is_kept_if_that_is_asked_for(diff: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    code, out, err = diff("make_model", "--backend", "small.py:wrong_relu")
    assert (code, err) == (1, "") and "torch.relu" in out and "run 20" not in out
    assert diff("make_plain", "--backend", "small.py:failing")[0] == 1
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "no")
    code, out, err = diff("make_plain", "--backend", "aot_eager")
    assert code == 2 and "GRAPHBREAK_ARTIFACTS='no': must be 0 or 1" in err


def test_the_calls_beside_the_model_are_made_and_shapes_may_be_dynamic(diff: Any, tmp_path: Path) -> None:
    assert diff("make_model", "--backend", "small.py:only_static")[0] == 0
    code, out, _ = diff("make_model", "--backend", "small.py:only_static", "--dynamic")
    assert code == 1 and "torch.relu" in out
    calls = "\n\ndef make_calls():\n    yield torch.randn(5, 8)\n    yield torch.randn(6, 8)\n"
    (tmp_path / "small.py").write_text(MODEL + calls, "utf-8")
    code, out, _ = diff("make_model", "--backend", "small.py:only_static")
    assert code == 1 and "call 2: output['hidden']: " in out and "call 1: output['hidden']: " not in out
    assert "In graph 2 of 2" in out and "torch.relu" in out


def test_an_interrupt_is_one_line(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group of processes of a terminal."""
    (tmp_path / "small.py").write_text(
        MODEL + "\n\ndef slow(graph, inputs):\n    open('begun', 'w').close()\n    __import__('time').sleep(600)\n",
        "utf-8",
    )
    command = [sys.executable, "-m", "repro_runner", "diff", "small.py:make_model", "--backend", "small.py:slow"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as running:
        wait_until((tmp_path / "begun").exists)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "interrupted\n")
    assert list_runs(tmp_path / ".graphbreak") == []


def wait_until(happened: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_model_that_only_writes_to_its_input_is_compared(diff: Any) -> None:
    code, out, _ = diff("make_writing", "--backend", "aot_eager")
    assert code == 0 and "args[0] (written)" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("make_raising",), "ValueError: not today; it fails without torch.compile, too"),
        (("make_number",), "small.py:make_number: returns no tensor: nothing to compare"),
        (("make_plain", "--gradients"), "no output requires grad"),
        (("make_plain", "--backend", "inductr"), "inductr: no such backend; did you mean inductor?"),
        (("make_plain", "--backend", "small.py:nothing"), "small.py:nothing: no backend `nothing` in it"),
        (("make_plain", "--reference", "small.py:failing"), "the reference backend small.py:failing can't run it"),
        (("make_plain", "--repeats", "0"), "must be at least 1"),
        (("make_plain", "--rtol", "-1"), "-1 is not a number from 0 on"),
        (("make_plain", "--rtol", "1", "--max-ulp", "2"), "not allowed with"),
        (("make_plain", "--max-ulp", "-2"), "'-2' is not a whole number"),
        (("make_nothing",), "no `make_nothing` in it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_exits_with_2_one_clear_line_and_no_run(
    diff: Any, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = diff(*arguments)
    assert (code, out) == (2, "")
    assert told in err and "Traceback" not in err
    assert list_runs(tmp_path / "runs") == []


def test_inductor_is_compared_by_default(diff: Any) -> None:
    code, out, _ = diff("make_model")
    assert code == 0 and "inductor equals eager in 2 values" in out


def test_help_needs_no_torch() -> None:
    program = (
        "import sys\n"
        "from repro_runner.cli import main\n"
        "try:\n"
        "    main(['diff', '--help'])\n"
        "finally:\n"
        "    assert not {'torch', 'matplotlib', 'numpy'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--gradients" in done.stdout and "exit codes" in done.stdout


def test_a_file_name_can_not_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    hostile = tmp_path / "small\x1b[2J\x9b\r.py"
    hostile.write_text(MODEL.replace("no kernel for that", "no kernel\x1b[1A for that"), "utf-8")
    for backend, shown in (("wrong_relu", "small\\x1b[2J\\x9b\\r.py:"), ("failing", "no kernel\\x1b[1A for that")):
        assert main(["diff", f"{hostile}:make_model", "--backend", f"{hostile}:{backend}"]) == 1
        printed = capsys.readouterr()
        assert not {each for each in printed.out + printed.err if not each.isprintable()} - {"\n"}
        assert "small\\x1b[2J\\x9b\\r.py:make_model" in printed.out and shown in printed.out
