"""The function that broke becomes a repro: what it needs comes along, what the break does not need goes."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody calls it

from registry.repros import parse_repro
from repro_runner.cli import main
from repro_runner.minifier import NotMinified, minify_model
from repro_runner.minifier.breaks.calls import record_calls
from repro_runner.minifier.breaks.extraction import extract
from repro_runner.minifier.breaks.minify_break import find_break, render_repro
from repro_runner.minifier.breaks.program import Program, parse_program, tidied
from repro_runner.minifier.breaks.reduction import reduce_program
from repro_runner.minifier.breaks.still_breaks import INPUTS_MATTER, report_break
from repro_runner.minifier.breaks.values import layer_text
from repro_runner.minifier.recording import record_graphs
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.runs import find_run
from tests.conftest import ROOT
from tests.scheduling import sampled

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

FACTOR = 3.0


def above(h: torch.Tensor, least: float) -> torch.Tensor:
    """Not called `broken` by anybody."""
    scaled = h * FACTOR
    if scaled.mean() > least:
        scaled = F.relu(scaled) + 1
    return scaled


def plain(x: torch.Tensor, *, least: float = 0.5) -> torch.Tensor:
    y = torch.sin(x)
    y = above(y, least)
    return y.cos()


class Head(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(6, 4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.project(x).tanh()
        return result


class WithLayers(torch.nn.Module):
    """An ordinary module: layers, a parameter, a number, a configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.head = Head()
        self.norm = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Dropout(0.5)).eval()
        self.weight = torch.nn.Parameter(torch.randn(4))
        self.config = types.SimpleNamespace(scale=2.0, name="large")

    def forward(self, x: torch.Tensor, flag: bool = True) -> torch.Tensor:
        h = self.norm(self.head(x)) * self.weight
        if flag:
            h = h * self.config.scale
        scaled: torch.Tensor = h * h.sum().item()
        return scaled


class WithMethods(torch.nn.Module):
    """Calls its own method, and keeps something."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(6, 6)
        self.calls = 0

    def shifted(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.calls

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        h = self.layer(self.shifted(x))
        summed: torch.Tensor = torch.tensor(h.tolist()).sum() + h
        return summed


class Experts(torch.nn.ModuleDict):
    """A container, which finds its layers by key."""

    def __init__(self) -> None:
        super().__init__({"first": torch.nn.Linear(6, 6)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self["first"](x)
        scaled: torch.Tensor = h * h.sum().item()
        return scaled


def in_a_closure() -> Any:
    offset = torch.ones(6)

    @functools.wraps(plain)
    def inner(x: torch.Tensor) -> torch.Tensor:
        values = [float(v) for v in (x + offset)[0]]
        return x * values[0]

    return inner


BROKEN: dict[str, tuple[Callable[[], Any], str, str]] = {
    "a helper of a function": (lambda: plain, "GB0170", "if h.mean():\n        h = F.relu(h)\n    return h"),
    "a module's forward": (WithLayers, "GB0124", "return x.item()"),
    "a container with layers by key": (Experts, "GB0124", "return y.item()"),
    "a module with methods and state": (WithMethods, "GB0109", "return x.tolist()"),
    "a closure": (in_a_closure, "GB0124", "return [float(v) for v in y]"),
}


def breaks_so(program: Program, gb_id: str) -> bool:
    """As a trial does it, in this process: none of these can hang."""
    module = types.ModuleType("candidate")
    sys.modules["candidate"] = module
    torch._dynamo.reset()
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(program.code(), "candidate", "exec"), vars(module))
            return report_break(module, [gb_id], demand=INPUTS_MATTER) == 1
    except Exception:  # noqa: BLE001 - a program cut down too far may raise anything
        return False
    finally:
        del sys.modules["candidate"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sampled(BROKEN))
def test_what_broke_is_taken_out_with_what_it_needs_and_cut_down(name: str) -> None:
    make, gb_id, body = BROKEN[name]
    torch.manual_seed(0)
    subject = ModelUnderTest(name=name, model=make(), args=(torch.randn(3, 6),))
    found = find_break(subject, record_graphs(subject), gb_id)
    assert found is not None
    call = record_calls(subject, found)[0]
    by_value, program = extract(call, as_written=False), extract(call, as_written=True)
    for taken_out in (by_value, program):
        assert breaks_so(taken_out, gb_id)
        assert parse_program(taken_out.code()).code() == taken_out.code()
        assert not re.search(r"\btests\b|repro_runner|\"\"\"|: torch.Tensor", taken_out.code())
    smallest = reduce_program(program, lambda edited: breaks_so(edited, gb_id), most=300)
    assert breaks_so(smallest, gb_id)
    assert ast.unparse(smallest.broken).partition("\n    ")[2] == body
    repro = parse_repro(render_repro(smallest, found, covered=True), gb_id)
    assert repro.no_fix
    assert repro.lead.startswith(found.explanation.splitlines()[0][:40])


def test_a_break_that_only_fullgraph_has_is_found() -> None:
    subject = load_model(f"{ROOT / 'registry' / 'repros' / 'GB7324.py'}:broken")
    recording = record_graphs(subject)
    assert "GB7324" not in {each.gb_id for each in recording.breaks}
    found = find_break(subject, recording, "GB7324")
    assert found is not None
    assert found.kind == "fatal"


def test_a_layer_is_made_again_as_it_is_set() -> None:
    layers = [
        torch.nn.Linear(6, 4, bias=False),
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=(1, 0), bias=False),
        torch.nn.LayerNorm(4, eps=1e-3),
        torch.nn.LSTM(4, 5, num_layers=2, batch_first=True),
        torch.nn.Embedding(10, 4, padding_idx=0).eval(),
        torch.nn.MultiheadAttention(8, 2, batch_first=True),
        torch.nn.GELU(approximate="tanh"),
        torch.nn.BatchNorm1d(4).bfloat16(),
        torch.nn.Linear(6, 4, device="meta"),
    ]
    for layer in layers:
        again = eval(layer_text(layer), {"torch": torch})
        assert repr(again) == repr(layer)
        assert again.training == layer.training
        for name, value in layer.state_dict().items():
            made = again.state_dict()[name]
            assert (made.shape, made.dtype, made.device) == (value.shape, value.dtype, value.device)


@pytest.mark.parametrize("index", ["0, 1:2", "..., None, :1", "1:"])
def test_an_index_with_slices_is_cut_down_like_the_rest(index: str) -> None:
    source = f"import torch\ndef broken(x):\n    y = x[{index}] + x.sum()\n    return torch.relu(y)[{index}]\n"
    inputs = {"x": ast.parse("torch.randn(2, 2)", mode="eval").body}
    program = Program(tree=ast.parse(source), inputs=inputs)
    smallest = reduce_program(program, lambda edited: f"x[{index}]" in edited.code(), most=200)
    assert "relu" not in smallest.code()


def test_what_nothing_uses_goes() -> None:
    source = """
import math
import types
used = 1
unused = math.pi
class Kept:
    def __init__(self):
        self.read = used
        self.counted = 0
        self.only_set = types
kept = Kept()
def broken(x, y):
    kept.counted += 1
    return x + kept.read
"""
    inputs = {name: ast.parse("torch.randn(2)", mode="eval").body for name in "xy"}
    code = tidied(Program(tree=ast.parse(source), inputs=inputs)).code()
    assert not re.search(r"unused|math|types|only_set|\by\b", code)
    assert "self.read = used" in code
    assert "self.counted = 0" in code
    assert "return (torch.randn(2),)" in code


@pytest.mark.prove
def test_the_command_makes_a_repro_of_a_break_that_the_runner_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    assert main(["minify", f"{tmp_path / 'model.py'}:make_model", "--id", "gb0170"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"break: .*model.py:14: GB0170, Data-dependent branching", told)
    assert "confirmed: reproduced: GB0170" in told
    assert "its fix is for you to write" in told
    run = find_run()
    document = run.read_json("minified.json")
    assert (document["failure"]["gb_id"], document["script"]) == ("GB0170", "minified/GB0170.py")
    source = (run.path / document["script"]).read_text("utf-8")
    assert parse_repro(source, "GB0170").no_fix
    assert source.endswith("def broken(y):\n    if y.sum():\n        y = y * 2\n    return y\n"), source


MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 10)
        self.b = torch.nn.Linear(10, 3)

    def forward(self, x):
        h = torch.relu(self.a(x))
        print("so far")
        if h.sum() > 0:
            h = h * 2
        return self.b(h)


def make_model():
    return Net(), torch.randn(4, 8)


def raises():
    def model(x):
        raise KeyError("nothing here")
    return model, torch.randn(2)


def no_tensors():
    return lambda: 7, ()


def no_source():
    names = {}
    exec("def model(x): return x * x.sum().item()", names)
    return names["model"], torch.randn(3)
"""


def test_a_break_of_which_no_repro_can_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    assert main(["minify", f"{tmp_path / 'model.py'}:no_source", "--kind", "break"]) == 1
    told = capsys.readouterr().out
    assert "not minified" in told
    assert "GB0124" in told
    assert "model needs the source of model" in told
    assert find_run().read_json("minified.json")["unknown"] == ["break"]
    with pytest.raises(NotMinified, match="model needs the source of model"):
        minify_model(load_model(f"{tmp_path / 'model.py'}:no_source"), "break")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["model.py:raises"], r"model.py:\d+: KeyError: 'nothing here'; it fails without torch.compile, too"),
        (["model.py:no_such"], "no `no_such` in it"),
        (["model.py:make_model", "--backend", "indctor"], "did you mean inductor"),
        (["model.py:make_model", "--rule", "shapes"], "no such rule; there are memory, shape-alignment"),
        (["model.py:make_model", "--id", "GB0000"], "the model does not break so; there are GB"),
        (["model.py:make_model", "--device-file", "no.yml"], "no.yml"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_is_not_valid_is_one_line_and_exit_code_2(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL, "utf-8")
    assert main(["minify", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(problem, said.err.splitlines()[-1])
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("kind", ["violation", "break"])
def test_a_model_that_does_not_fail_is_told_so(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    assert main(["minify", f"{tmp_path / 'model.py'}:no_tensors", "--kind", kind]) == 0
    assert "nothing fails" in capsys.readouterr().out
    assert find_run().read_json("minified.json") == {
        "kind": "minified",
        "schema": 1,
        "tried": {kind: "none" if kind == "break" else "none of shape-alignment, memory"},
        "unknown": [],
        "failure": None,
    }


def test_a_hostile_file_name_can_not_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    file = tmp_path / "model\x1b[2J.py"
    file.write_text(MODEL, "utf-8")
    assert main(["minify", f"{file}:no_tensors", "--kind", "violation"]) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "model\\x1b[2J.py:no_tensors: nothing fails" in shown.out


def test_help_needs_no_torch() -> None:
    ask = "import sys; sys.modules['torch'] = None; from repro_runner.cli import main; main(['minify', '--help'])"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "exit codes:" in done.stdout
