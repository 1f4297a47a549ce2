"""`graphbreak check`: what a device refuses of a model, in the terminal and as a run; and what it says to bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from registry.errors import InvalidInput
from repro_runner.adapters import AcceleratorCapabilities, IntegratedMockAdapter, check_model
from repro_runner.cli import main
from repro_runner.model_under_test import ModelFailed, ModelUnderTest
from repro_runner.runs import find_run, list_runs
from tests.checkout import on_small_disk
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

MODELS = '''\
import os
import shutil

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 5)

    def forward(self, x, *, scale):
        x = torch.relu(self.linear(x)) * scale  # line 13
        print("computing")
        return torch.sort(x.double())[0].mean()  # line 15


def make_model():
    """Parameters, a break, and a keyword that it needs."""
    return Net(), {"x": torch.ones(4, 6), "scale": torch.tensor(2.0)}


def plain():
    """No parameters."""
    return torch.sin, torch.ones(4)


def written_into():
    def forward(x):
        x.mul_(2)
        return x.sin()

    return forward, torch.ones(4)


def raising():
    def forward(x):
        raise ValueError("no such luck\\nat all")  # line 38

    return forward, torch.ones(4)


def wanting():
    return Net(), torch.ones(4, 6)  # without `scale`


def nothing():
    return (lambda x: 3), torch.ones(4)


def a_number():
    return (lambda x: x.sum().item()), torch.ones(4)


def broken_everywhere():
    def forward(x):
        print("no graph here")
        return 3

    return forward, torch.ones(4)


def fragile():
    def forward(x):
        with torch._dynamo.error_on_graph_break(True):
            torch._dynamo.graph_break()
        return x.sin()

    return forward, torch.ones(4)


def larger_than_memory():
    return torch.nn.Linear(300_000, 300_000), torch.ones(2, 300_000)


def branching():
    return (lambda x: x + 1 if x.sum() > 0 else x.sin()), torch.ones(4)
'''

DEVICE = """\
name: tiny
dtypes: [float32]
unsupported_ops: [relu, threshold_backward]
rules:
  - ops: [addmm]
    arguments: [mat1]
    dims: [-1]
    alignment: 4
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is called: a model, a device, and room for runs."""
    (tmp_path / "models.py").write_text(MODELS, "utf-8")
    (tmp_path / "tiny.yml").write_text(DEVICE, "utf-8")
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said to bad input; nothing is left behind, and nobody sees a traceback."""
    assert main(["check", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err
    assert list_runs() == []
    return told.err.removesuffix("\n")


def test_everything_is_told_and_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models.py:make_model", "--device-file", "tiny.yml"]) == 1
    told = capsys.readouterr()
    assert "computing" not in told.out, "what the model prints is no part of the answer"
    head, graphs, violations, ops, partitions, run_id = told.out.split("\n\n")
    assert head.splitlines()[0].startswith("torch 2.")
    assert head.splitlines()[1] == "models.py:make_model: device tiny, decompositions none"
    assert [line.split()[:2] for line in graphs.splitlines()] == [
        ["2", "graphs"],
        ["GB0059", "models.py:14"],
    ]
    assert graphs.endswith("/gb/gb0059.html")
    lines = [" ".join(line.split()) for line in violations.splitlines()]
    assert lines[0].endswith(" violations of the device's limits")
    assert "models.py:13 1x aten.relu.default this device has no such op" in lines
    assert "models.py:13 1x aten.addmm.default argument mat1: dimension 1 is 6: not a multiple of 4 elements" in lines
    assert "models.py:15 1x aten.mean.default float64 is not one of float32" in lines
    table = [line.split() for line in ops.splitlines()]
    assert table[1] == ["op", "count", "refused", "dtypes", "where"]
    assert ["aten.relu.default", "1", "1", "float32", "models.py:13"] in table
    names = [row[0] for row in table if row[0].startswith("aten.")]
    assert names.index("aten.relu.default") < names.index("aten.t.default"), "what is refused comes first"
    assert "\ntransfers: " in partitions and "\na device with every op: " in partitions

    run = find_run(run_id.split()[1])
    assert run.manifest()["subject"] == "models.py:make_model"
    assert run.manifest()["device_file"] == "tiny.yml"
    (broken,) = run.read_json("breaks.json")["breaks"]
    assert (broken["gb_id"], broken["source"]) == ("GB0059", f"{folder / 'models.py'}:14")
    found = run.read_json("violations.json")
    assert (found["kind"], found["schema"]) == ("violations", 1)
    assert {
        "rule": "unsupported-op",
        "op": "aten.relu.default",
        "message": "this device has no such op",
        "dtype": "float32",
        "shape": [4, 5],
        "source": f"{folder / 'models.py'}:13",
        "graph": "forward",
        "node": "relu",
        "index": 0,
    } in found["violations"]
    assert {(each["graph"], each["index"]) for each in found["violations"]} >= {("backward", 0), ("backward", 1)}
    support = run.read_json("op_support.json")
    assert (support["kind"], support["device"], support["decompositions"]) == ("op_support", "tiny", "none")
    relu = next(op for op in support["ops"] if op["op"] == "aten.relu.default")
    assert (relu["supported"], relu["count"], relu["forward"], relu["refused"]) == (False, 1, 1, 1)
    assert relu["reasons"] == [{"rule": "unsupported-op", "message": "this device has no such op", "count": 1}]
    partition = support["partition"]
    assert partition["partitions"] == sum(len(graph["partitions"]) for graph in partition["graphs"]) > 0
    assert partition["ops_on_device"] + partition["ops_fallen_back"] == sum(op["count"] for op in support["ops"])
    for direction, crossing in partition["transfers"].items():
        assert crossing == sum(graph["transfers"][direction] for graph in partition["graphs"]) > 0
    assert (run.path / "graphs" / "0001" / "backward.svg").is_file()


def test_json_is_one_object_with_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--inference", "--decompositions", "core-aten", "--json"]
    assert main(["check", "models.py:make_model", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"], document["refused"]) == ("check", 1, False)
    assert document["violations"]["violations"] == []
    assert document["op_support"]["device"] == "mock"
    ops = {op["op"]: op for op in document["op_support"]["ops"]}
    assert {"aten.permute.default", "aten.addmm.default"} <= ops.keys()
    assert not any(op["backward"] for op in ops.values())
    assert {graph["graph"] for graph in document["op_support"]["partition"]["graphs"]} == {"forward"}
    run = find_run(document["run"])
    assert run.read_json("op_support.json") == document["op_support"]
    assert run.read_json("violations.json") == document["violations"]


@pytest.mark.parametrize("model", ["plain", "written_into", "a_number"])
def test_a_model_needs_neither_parameters_nor_tensors_to_return(
    model: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "all.yml").write_text("ops: [core-aten]\ndynamic_shapes: false\n", "utf-8")
    assert main(["check", f"models.py:{model}", "--device-file", "all.yml", "--decompositions", "core-aten"]) == 0
    assert "nothing breaks the device's limits" in capsys.readouterr().out
    assert main(["check", f"models.py:{model}", "--device-file", "all.yml", "--dynamic"]) == 1
    assert "dynamic-shape" in capsys.readouterr().out


def test_a_model_that_breaks_everywhere_gives_the_device_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "models.py:broken_everywhere"]) == 1
    told = capsys.readouterr().out
    assert "0 graphs" in told and "GB0059" in told and "nothing breaks" not in told


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("raising", "{folder}/models.py:38: ValueError: no such luck; it fails without torch.compile, too"),
        ("wanting", "models.py:wanting: TypeError: Net.forward() missing 1 required keyword-only argument: 'scale'; "
         "it fails without torch.compile, too"),
        ("nothing", "models.py:nothing: the model computes nothing with tensors: there is nothing to check"),
        ("none", "models.py:none: no `none` in it"),
    ],
)  # fmt: skip
def test_a_model_that_does_not_run_is_named_in_one_line(
    model: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused([f"models.py:{model}"], capsys) == told.format(folder=folder)


def test_a_model_that_only_fails_compiled_is_named_with_its_break(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(["models.py:fragile"], capsys) == (
        f"{folder}/models.py:66: Unsupported: Call to `torch._dynamo.graph_break()`; "
        "it fails only under torch.compile; GB0025 https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html"
    )


def test_a_bad_capability_file_is_told_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.yml").write_text("dtypes: [float23]\nops: [mm, rellu]\nmemory: 1\n", "utf-8")
    told = refused(["models.py:plain", "--device-file", "bad.yml"], capsys).splitlines()
    assert [line.partition(";")[0] for line in told] == [
        "bad.yml:1: dtypes: float23: no such dtype",
        "bad.yml:2: ops: aten.rellu: no such op",
    ]
    assert all("did you mean" in line for line in told)
    told = refused(["models.py:plain", "--device-file", "none.yml"], capsys).splitlines()
    assert told == ["none.yml: No such file or directory; name a capability file"]


def test_a_wrong_key_is_told_before_torch_is_imported(folder: Path) -> None:
    (folder / "bad.yml").write_text("memmory: 1\nrules:\n  - ops: [mm]\n    alignmnt: 4\n", "utf-8")
    program = (
        "import sys; sys.modules['torch'] = None; from repro_runner.cli import main; "
        f"sys.exit(main(['check', 'models.py:plain', '--device-file', {str(folder / 'bad.yml')!r}]))"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert [line.partition(": ")[2] for line in ended.stderr.splitlines()] == [
        "memmory: no such key; did you mean memory?",
        "alignmnt: no such key; did you mean alignment?",
    ]


def test_settings_in_the_environment_that_make_no_sense_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "none")
    monkeypatch.setenv("MOCK_MAX_MEMORY", "16gigs")
    told = refused(["models.py:plain"], capsys).splitlines()
    assert [line.partition(": must")[0] for line in told] == [
        "environment: MOCK_ALIGNMENT='none'",
        "environment: MOCK_MAX_MEMORY='16gigs'",
    ]


@pytest.mark.parametrize("kilobytes", [4, 12])
def test_a_full_disk_is_one_line_after_what_was_found(
    kilobytes: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = folder / "runs"
    runs.mkdir()
    with on_small_disk(runs, kilobytes):
        assert main(["check", "models.py:plain"]) == 2
    told = capsys.readouterr()
    assert "models.py:plain: " in told.out and "\nrun " not in told.out
    (line,) = told.err.splitlines()
    assert line.startswith("not stored: ")
    assert "No space left on device; make room, or set GRAPHBREAK_HOME" in line


def test_nothing_is_kept_if_that_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    assert main(["check", "models.py:plain"]) == 0
    told = capsys.readouterr()
    assert "models.py:plain: " in told.out and "\nrun " not in told.out + told.err
    assert not (folder / "runs").exists()


@pytest.mark.parametrize("without_values", [("--fake",), ("--device", "meta"), ("--fake", "--dynamic")], ids=" ".join)
def test_a_model_needs_no_memory_to_be_checked(
    without_values: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "models.py:larger_than_memory", *without_values]) == 1
    told = capsys.readouterr().out
    assert "1 graph (1 with a backward), 0 breaks" in told
    assert "takes 360000000000 bytes, more than 17179869184" in told


def test_a_model_that_needs_values_is_told_to_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["models.py:branching", "--fake"], capsys)
    assert line.endswith("; such tensors have no values: leave out --fake")


@pytest.mark.parametrize("device", ["npu", "xpu:0"])
def test_a_device_that_is_not_there_is_one_line(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["models.py:plain", "--device", device], capsys)
    assert line.startswith(f"device {device}: torch can't make a tensor there (")
    assert line.endswith("); let the file of the model import the package that registers it, or name another")


def test_the_same_from_python() -> None:
    subject = ModelUnderTest(name="mine", model=torch.relu, args=(torch.ones(4),))
    result = check_model(subject, AcceleratorCapabilities(unsupported_ops=["relu"]))
    assert result.refused
    assert [violation.op for _, violation in result.violations] == ["aten.relu.default"]
    assert "aten.relu.default" in result.summary()
    own: dict[Any, Any] = {torch.ops.aten.relu.default: lambda x: torch.ops.aten.clamp.default(x, 0)}
    result = check_model(subject, AcceleratorCapabilities(unsupported_ops=["relu"]), decompositions=own)
    assert (result.refused, result.decompositions, [op.op for op in result.ops]) == (
        False,
        "custom",
        ["aten.clamp.default"],
    )
    decomposing = IntegratedMockAdapter(AcceleratorCapabilities(unsupported_ops=["relu"]), decompositions=own)
    assert not check_model(subject, decomposing).refused, "an adapter brings its own table"
    with pytest.raises(ModelFailed, match="mine: "):
        check_model(ModelUnderTest(name="mine", model=torch.relu))
    with pytest.raises(InvalidInput, match="nothing to check"):
        check_model(ModelUnderTest(name="mine", model=lambda: 1))


HOSTILE = "m\x1b[2J\x07odel.py"


def test_a_hostile_file_name_does_not_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / HOSTILE).write_text(MODELS, "utf-8")
    (folder / "d\x1bevice.yml").write_text(DEVICE.replace("name: tiny\n", ""), "utf-8")
    assert main(["check", f"{HOSTILE}:make_model", "--device-file", "d\x1bevice.yml"]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\x07" not in shown
    assert r"m\x1b[2J\x07odel.py:make_model: device d\x1bevice, decompositions none" in shown
    assert r"m\x1b[2J\x07odel.py:13" in shown, "the line of each violation"
    assert main(["check", f"{HOSTILE}:raising"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_help_and_the_example_need_no_torch() -> None:
    for option in ("--help", "--example"):
        answer = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "repro_runner", "check", option],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
        assert "argparse" in loaded
        assert loaded.isdisjoint({"torch", "yaml"})
    assert answer.stdout == (ROOT / "repro_runner" / "adapters" / "example_device.yml").read_text("utf-8")
