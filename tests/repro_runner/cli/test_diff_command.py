"""`graphbreak diff`: what it prints, what it leaves in the run's folder, and its exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.cli import main
from repro_runner.runs import RunFolder, list_runs
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
    hostile = tmp_path / "small\x1b[2J\x9b\r.py"
    hostile.write_text(MODEL.replace("no kernel for that", "no kernel\x1b[1A for that"), "utf-8")
    for backend, shown in (("wrong_relu", "small\\x1b[2J\\x9b\\r.py:"), ("failing", "no kernel\\x1b[1A for that")):
        assert main(["diff", f"{hostile}:make_model", "--backend", f"{hostile}:{backend}"]) == 1
        printed = capsys.readouterr()
        assert not {each for each in printed.out + printed.err if not each.isprintable()} - {"\n"}
        assert "small\\x1b[2J\\x9b\\r.py:make_model" in printed.out and shown in printed.out
