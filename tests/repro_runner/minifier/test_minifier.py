"""Every minified script fails alone as the model does, and is silent when the cause is gone."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import torch
from torch.fx import Node

from repro_runner.cli import main
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    UnsupportedOpsConstraint,
    Violation,
    op_name,
    traced_tensors,
)
from repro_runner.minifier import minified_document, search_failure
from repro_runner.minifier.backend_failures import examine_compilation, examine_numerics, read_backend
from repro_runner.minifier.graph_minifier import Candidate, GraphMinifier
from repro_runner.minifier.parts.backends import end_of
from repro_runner.minifier.recording import record_graphs
from repro_runner.minifier.script import Script
from repro_runner.minifier.script_runners import InChild, InProcess, Outcome
from repro_runner.minifier.violations import find_violation, violation_checks
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.process import Limits
from repro_runner.runs import find_run

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

BACKENDS = """
import operator
import os
import signal

import torch


def is_softmax(node):
    return node.op.startswith("call") and "softmax" in str(node.target)


def refuses(graph, inputs):
    for node in graph.graph.nodes:
        if is_softmax(node):
            shape = tuple(node.meta["example_value"].shape)
            raise NotImplementedError(f"{node.name} of {shape} at {id(node)}\\nand more")
    return graph.forward


def refuses_backward(graph, inputs):
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def lower(graph, inputs):
        if any("_softmax_backward_data" in str(node.target) for node in graph.graph.nodes):
            raise KeyError("no such kernel")
        return make_boxed_func(graph.forward)

    return aot_autograd(fw_compiler=lower)(graph, inputs)


def crashes(graph, inputs):
    if any(map(is_softmax, graph.graph.nodes)):
        os.kill(os.getpid(), signal.SIGSEGV)
    return graph.forward


def writes_something_else(graph, inputs):
    return replaced(graph, lambda x, place, value: operator.setitem(x, place, value + 1), operator.setitem)


def replaced(graph, function, target):
    for node in graph.graph.nodes:
        if node.target is target:
            node.target = function
    graph.recompile()
    return graph.forward


def wrong(graph, inputs):
    return replaced(graph, lambda x: torch.nn.functional.gelu(x) * 1.001, torch.nn.functional.gelu)


def wrong_when_big(graph, inputs):
    return replaced(graph, lambda x: torch.nn.functional.gelu(x).clamp(max=50.0), torch.nn.functional.gelu)


def refuses_this_project(graph, inputs):
    try:
        import repro_runner
    except ModuleNotFoundError:
        return graph.forward
    raise RuntimeError("not with this")


def wrong_in_the_last_bit(graph, inputs):
    return replaced(graph, lambda x: torch.nn.functional.gelu(x.double()).float(), torch.nn.functional.gelu)
"""


class Block(torch.nn.Module):
    """Attention and a perceptron, of sizes that nothing likes."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (torch.nn.Linear(12, 12) for _ in range(4))
        self.before, self.between, self.after = (torch.nn.LayerNorm(12) for _ in range(3))
        self.up, self.down = torch.nn.Linear(12, 20), torch.nn.Linear(20, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.before(x)
        heads = [layer(normed).view(2, 5, 3, 4).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        scores = (heads[0] @ heads[1].transpose(-1, -2) / 2.0).clamp(-10, 10)
        mixed = (torch.softmax(scores, -1) @ heads[2]).transpose(1, 2).reshape(2, 5, 12)
        x = x + self.output(mixed) * 0.5
        x = x + self.down(torch.nn.functional.gelu(self.up(self.between(x)))) * 0.5
        return torch.tanh(self.after(x)) + 1


def make_model() -> tuple[torch.nn.Module, torch.Tensor]:
    return Block(), torch.randn(2, 5, 12)


_RUN = """
import contextlib, io, json, runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("repro_runner", "registry", "sitegen", "tests"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
sys.path.append(sys.argv[1])
import torch

torch.set_num_threads(1)
torch.compile(torch.sin, backend="aot_eager")(torch.ones(2, requires_grad=True))
torch._dynamo.reset()
for path in sys.argv[2:]:
    said, code = io.StringIO(), None
    torch._dynamo.reset()
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            code = end.code
    print(json.dumps([path, code, said.getvalue()]), flush=True)
"""


def run_scripts(scripts: Mapping[str, Script], folder: Path, modules: Path) -> dict[str, tuple[int, str]]:
    """Each script as the main one, in a process that can import nothing but torch and what is in `modules`."""
    paths = []
    for name, script in scripts.items():
        path = folder / f"{name.replace(' ', '_')}.py"
        path.write_text(script.text, "utf-8")
        if script.saved:
            torch.save(dict(script.saved), path.with_suffix(".pt"))
        paths.append(path)
    command = [sys.executable, "-I", "-c", _RUN, str(modules), *map(str, paths)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    ended = {path: (code, said.strip()) for path, code, said in map(json.loads, done.stdout.splitlines())}
    return {name: ended[str(path)] for name, path in zip(scripts, paths, strict=True)}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with somebody's backends, importable here."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "somebodys_backends.py").write_text(BACKENDS, "utf-8")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory, modules: Path) -> Iterator[InChild]:
    """Where all these backends are tried; it can import them."""
    assert str(modules) in sys.path
    with InChild(tmp_path_factory.mktemp("apart"), Limits(seconds=60)) as started:
        yield started


DEVICE = """
name: odd
rules:
  - ops: [_softmax]
    dims: [-1]
    alignment: 4
"""


@pytest.mark.prove
def test_the_command_shrinks_an_attention_block_to_the_op_that_a_device_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    (tmp_path / "odd.yml").write_text(DEVICE, "utf-8")
    out = tmp_path / "softmax.py"
    asked = [f"{__file__}:make_model", "--device-file", str(tmp_path / "odd.yml"), "--out", str(out), "--json"]
    assert main(["minify", *asked]) == 0
    answer = json.loads(capsys.readouterr().out)
    run = find_run(answer["run"])
    assert {**run.read_json("minified.json"), "run": run.id} == answer
    assert (run.path / answer["script"]).read_text("utf-8") == out.read_text("utf-8")
    assert answer["confirmed"]
    assert answer["original_nodes"] >= 30
    assert answer["nodes"] == 1
    assert (answer["failure"]["rule"], answer["failure"]["op"]) == ("shape-alignment", "aten._softmax.default")
    assert answer["output"].startswith("still fails: aten._softmax.default of the forward graph: float32[2, 3, 5, 5]")
    text = out.read_text("utf-8")
    assert "    return torch.softmax(" in text
    assert "% 4" in text
    assert not re.search(r"(import|from) (repro_runner|registry)|pickle", text)
    assert f"torch {torch.__version__}" in text


def small(x: torch.Tensor, w: torch.Tensor, g: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.layer_norm(torch.mm(x[places], w.t()), (6,), g)
    return torch.softmax(h, -1)


def subject_of_small() -> ModelUnderTest:
    torch.manual_seed(0)
    tensors = (torch.randn(9, 10, requires_grad=True), torch.randn(6, 10, requires_grad=True), torch.ones(6))
    return ModelUnderTest(name="small", model=small, args=(*tensors, torch.tensor([0, 5, 8, 5])))


def with_sizes(size: int) -> Callable[[str], str]:
    """Every drawn tensor has only dimensions of this size, and every index is the first."""

    def resized(drawn: re.Match[str]) -> str:
        return re.sub(r"\d+", str(size), drawn[0])

    def mended(text: str) -> str:
        text = text.replace("randn(60).as_strided((10, 6), (1, 10))", "randn(10, 6)")
        text = re.sub(r"randint\(\d+, \d+", "randint(0, 1", text)
        return re.sub(r"(?<=torch\.randn\()[\d, ]+|(?<=torch\.rand\()[\d, ]+", resized, text)

    return mended


class NoLongRows(Constraint):
    """Somebody's own rule; a script has a copy of it."""

    rule = "no-long-rows"

    def check(self, node: Node) -> Iterator[Violation]:
        for tensor in traced_tensors(node):
            if op_name(node) == "aten.mm.default" and tensor.sizes[-1] != 4:
                yield self.violation(node, f"rows of {tensor.sizes[-1]}", tensor)


def changed(before: str, after: str) -> Callable[[str], str]:
    return lambda text: text.replace(before, after)


RULES: dict[str, tuple[Constraint, str, str, Callable[[str], str]]] = {
    # the limit, the graph and the op that break it, and how to remove the cause
    "alignment": (
        ShapeConstraint(4, dims=[1], ops=["mm"], arguments=["mat2"]),
        "forward",
        "aten.mm.default",
        with_sizes(4),
    ),
    "dtype": (
        DtypeConstraint(["float64"], ops=["_softmax"]),
        "forward",
        "aten._softmax.default",
        changed("torch.randn(4, 6)", "torch.randn(4, 6).double()"),
    ),
    "dtype of an input": (
        DtypeConstraint(["float32", "bool", "int32"]),
        "forward",
        "placeholder",
        changed("dtype=torch.int64", "dtype=torch.int32"),
    ),
    "memory": (MemoryConstraint(90, ops=["_softmax"]), "forward", "aten._softmax.default", with_sizes(2)),
    "layout": (LayoutConstraint(ops=["t"]), "forward", "aten.t.default", changed(".t()", ".sin()")),
    "unsupported op": (
        UnsupportedOpsConstraint(["_softmax"]),
        "forward",
        "aten._softmax.default",
        changed("torch.softmax(", "torch.cumsum("),
    ),
    "unsupported op backward": (
        UnsupportedOpsConstraint(["native_layer_norm_backward"]),
        "backward",
        "aten.native_layer_norm_backward.default",
        changed(".requires_grad_()", ""),
    ),
    "own rule": (NoLongRows(), "forward", "aten.mm.default", with_sizes(4)),
    "peak memory backward": (PeakMemoryConstraint(900), "backward", "", with_sizes(1)),
}
FAILING = {
    # backend, and what the script says
    "raising": ("refuses", "NotImplementedError: softmax of"),
    "raising backward": ("refuses_backward", "KeyError: 'no such kernel'"),
    "crashing": ("crashes", "compiled, it was killed by SIGSEGV"),
    "wrong": ("wrong", "output 0: Tensor-likes are not close!"),
    "wrong for big values": ("wrong_when_big", "output 0: Tensor-likes are not close!"),
}


def with_a_break(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.linear(x, w) * 50
    torch._dynamo.graph_break()
    h = torch.nn.functional.gelu(h)
    return torch.softmax(h / 500, -1).exp()


def smallest(minifier: GraphMinifier, whole: Candidate) -> tuple[int, Script]:
    best = minifier.minify(whole)[0]
    return best.operations, minifier.script(best)


class Counting(torch.nn.Module):
    """Writes into its input and into a buffer, takes keywords, and has no parameters."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, *, scale: float, mask: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        self.calls += 1
        x.mul_(scale)
        x[0] = 0.5
        return {"sum": x.sum() + self.calls, "kept": x if mask is None else x[mask]}


UNHARMED = {
    "writes": ModelUnderTest(name="counting", model=Counting(), args=(torch.ones(3),), kwargs={"scale": 2.0}),
    "draws": ModelUnderTest(name="dropout", model=torch.nn.Dropout(0.5), args=(torch.ones(30, requires_grad=True),)),
    "rounds": ModelUnderTest(name="small", model=torch.nn.functional.gelu, args=(torch.linspace(-50, 50, 999),)),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("writes", "numeric"),
        *(
            pytest.param(name, kind, marks=pytest.mark.prove)
            for name, kind in (("draws", "numeric"), ("rounds", "numeric"), ("writes", "compile"))
        ),
    ],
)
def test_a_model_that_a_backend_runs_well_does_not_fail(name: str, kind: str, apart: InChild) -> None:
    backend = "somebodys_backends:wrong_in_the_last_bit" if name == "rounds" else "aot_eager"
    search = search_failure(UNHARMED[name], kind, backend=backend, apart=apart)
    assert (search.program, search.unknown, search.tried) == (None, (), {kind: f"none with {backend}"})


def test_a_backend_that_writes_something_else_into_a_tensor_is_numerically_wrong(apart: InChild) -> None:
    backend = read_backend("somebodys_backends:writes_something_else")
    (graph,) = record_graphs(UNHARMED["writes"]).graphs
    assert examine_compilation(graph, backend, apart, seconds=60).found is None
    examined = examine_numerics(graph, backend, apart)
    assert examined.found is not None, examined.unknown
    candidate, _, check = examined.found
    operations, script = smallest(GraphMinifier(check, apart), candidate)
    assert operations == 1
    assert "[0] = 0.5\n" in script.text


@pytest.mark.prove
def test_what_does_not_fail_on_its_own_is_not_claimed_to(apart: InChild) -> None:
    subject = ModelUnderTest(name="one op", model=torch.sin, args=(torch.ones(3),))
    told: list[str] = []
    search = search_failure(
        subject, "compile", backend="somebodys_backends:refuses_this_project", apart=apart, say=told.append
    )
    assert search.program is not None
    assert "shrinking 1 operation ..." in told[1]
    assert "RuntimeError: not with this" in search.program.failure.summary
    assert not search.program.confirmed
    assert search.program.output == "gone: it compiles and runs"
    assert minified_document(search)["confirmed"] is False


def test_a_script_that_does_not_end_is_ended(apart: InChild) -> None:
    apart.limits = Limits(seconds=0.5)
    outcome = apart.outcome(Script(text="import time; time.sleep(60)", saved={}))
    apart.limits = Limits(seconds=60)
    assert outcome == Outcome(code=None, text="took longer than 0.5 s")


@pytest.mark.parametrize(
    ("before", "outcome"),
    [
        ("print('compiling', end='')", Outcome(code=1, text="still fails: so")),
        pytest.param(
            "sys.stdout.close()",
            Outcome(code=1, text="ValueError: I/O operation on closed file."),
            marks=pytest.mark.prove,
        ),
    ],
    ids=["writes into the line", "closes the output"],
)
def test_only_what_a_script_prints_is_its_verdict(before: str, outcome: Outcome, apart: InChild) -> None:
    found = apart.outcome(Script(text=f"import sys\n{before}\nprint('still fails: ' + 'so')\nsys.exit(1)", saved={}))
    assert found == outcome
    assert found.fails == outcome.text.startswith("still fails: ")


def test_a_process_that_does_not_end_is_ended() -> None:
    assert end_of(time.sleep, 60, seconds=0.5) == "took longer than 0.5 s"
    assert end_of(sys.exit, 4, seconds=60) == "ended with exit code 4"


@pytest.fixture(scope="module")
def minified(tmp_path_factory: pytest.TempPathFactory, apart: InChild) -> dict[str, tuple[int, Script]]:
    """For each rule and each failing backend the smallest program, and how many operations it has."""
    folder = tmp_path_factory.mktemp("candidates")
    recording = record_graphs(subject_of_small())
    found: dict[str, tuple[int, Script]] = {}
    for name, (constraint, graph, op, _) in RULES.items():
        violation = find_violation(recording, [constraint], None)
        assert violation is not None, name
        recorded, failure, _ = violation
        if op:
            assert (failure.op, failure.rule) == (op, constraint.rule)
        failure = dataclasses.replace(failure, graph=graph)
        check = next(violation_checks(failure, constraint))
        minifier = GraphMinifier(check, InProcess(folder))
        whole = next(each for each in minifier.whole(recorded) if minifier.outcome(each).fails)
        found[name] = smallest(minifier, whole)
    torch.manual_seed(0)
    args = (torch.randn(5, 7, requires_grad=True), torch.randn(6, 7))
    graphs = record_graphs(ModelUnderTest(name="breaking", model=with_a_break, args=args)).graphs
    assert len(graphs) == 2
    for name, (attribute, _) in FAILING.items():
        backend = read_backend(f"somebodys_backends:{attribute}")
        if "wrong" in attribute:
            examined = examine_numerics(graphs[1], backend, apart)
        else:
            examined = examine_compilation(graphs[1], backend, apart, seconds=60)
        assert examined.found is not None, (name, examined.unknown)
        candidate, _, check = examined.found
        found[name] = smallest(GraphMinifier(check, apart), candidate)
    return found


@pytest.fixture(scope="module")
def outcomes(
    minified: dict[str, tuple[int, Script]], tmp_path_factory: pytest.TempPathFactory, modules: Path
) -> dict[str, tuple[int, str]]:
    """What each script says in a clean process, and what it says once the cause is removed."""
    scripts = {name: script for name, (_, script) in minified.items()}
    for name, (_, _, _, mend) in RULES.items():
        scripts[f"{name}, mended"] = dataclasses.replace(scripts[name], text=mend(scripts[name].text))
    for name, (attribute, _) in FAILING.items():
        text = scripts[name].text.replace(f"return {attribute}", 'return "aot_eager"')
        scripts[f"{name}, mended"] = dataclasses.replace(scripts[name], text=text)
    for name in ("raising", "wrong"):
        text = scripts[name].text.replace("somebodys_backends", "nobodys_backends")
        scripts[f"{name}, not there"] = dataclasses.replace(scripts[name], text=text)
    return run_scripts(scripts, tmp_path_factory.mktemp("scripts"), modules)


@pytest.mark.prove
@pytest.mark.parametrize("name", [*RULES, *FAILING])
def test_a_script_fails_alone_in_a_clean_process(
    name: str, minified: dict[str, tuple[int, Script]], outcomes: dict[str, tuple[int, str]]
) -> None:
    operations, script = minified[name]
    code, said = outcomes[name]
    assert code == 1, said
    assert said.startswith("still fails: ")
    assert (FAILING[name][1] if name in FAILING else RULES[name][1]) in said
    assert operations <= 2
    assert not re.search(r"(import|from) (repro_runner|registry)|pickle|GraphModule\(|weights_only=False", script.text)
    assert bool(script.saved) == (name == "wrong for big values")


@pytest.mark.prove
@pytest.mark.parametrize("name", [*RULES, *FAILING])
def test_a_script_is_silent_when_the_cause_is_gone(name: str, outcomes: dict[str, tuple[int, str]]) -> None:
    code, said = outcomes[f"{name}, mended"]
    assert (code, said.partition(":")[0]) == (0, "gone"), said


@pytest.mark.prove
@pytest.mark.parametrize("name", ["raising", "wrong"])
def test_a_script_whose_backend_is_not_there_says_that_something_else_is_wrong(
    name: str, outcomes: dict[str, tuple[int, str]]
) -> None:
    code, said = outcomes[f"{name}, not there"]
    assert (code, said.partition(":")[0]) == (3, "another failure"), said
