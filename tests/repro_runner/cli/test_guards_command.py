"""`graphbreak guards` on a user's file: what it prints, writes and answers, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from repro_runner.cli import main as graphbreak
from repro_runner.model_under_test.calls import find_calls
from repro_runner.runs import find_run, list_runs
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 4)

    def forward(self, x, mask=None):
        y = self.layer(x)
        if y.sum() > 1e9:
            y = y * 0
        return y if mask is None else y * mask


def make_model():
    return Net(), torch.randn(3, 8)


def with_mask():
    return Net(), {"x": torch.randn(3, 8), "mask": torch.ones(3, 1)}


def counting():
    def count(x, state=[0]):
        state[0] += 1
        print("counted", state[0])
        return x * 2

    return count, torch.ones(4)


def keeps_count():
    class Counting(torch.nn.Module):
        step = 0

        def forward(self, x):
            self.step += 1
            return x * self.step

    return Counting(), torch.ones(4)


def keeps_count_too_long():
    torch._dynamo.config.recompile_limit = 1
    return keeps_count()


def one_size():
    return (lambda x: x + torch.ones(4)), torch.ones(4)


def raising():
    def forward(x):
        raise KeyError("weights")

    return forward, torch.ones(4)


def no_tensor():
    return (lambda x: None), torch.ones(4)


def scalar():
    return (lambda x: x * 2), torch.tensor(3.0)
"""

CALLS = """
import torch


def make_model():
    return torch.nn.Dropout(), torch.ones(4)


def make_calls():
    yield torch.ones(4)
    yield {"input": torch.ones(4)}
    yield evaluating


def evaluating(model):
    model.eval()
    model(torch.ones(4))
"""


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    torch._dynamo.reset()
    yield tmp_path / "runs"
    torch._dynamo.reset()


Guards = Callable[..., tuple[int, str, str]]


@pytest.fixture
def guards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Guards:
    """Run the command on a function of the model's file: (exit code, standard output, standard error)."""

    def run(function: str, *options: str, source: str = MODEL) -> tuple[int, str, str]:
        file = tmp_path / "model.py"
        file.write_text(source, "utf-8")
        code = graphbreak(["guards", f"{file}:{function}", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_it_prints_guards_breaks_recompiles_and_advice(guards: Guards, runs: Path) -> None:
    code, out, _ = guards("make_model")
    assert code == 0
    assert "x is a float32 tensor of shape [3, 8] on cpu that does not require grad (x: argument of forward, " in out
    assert "2 guards on parameters and buffers of self.layer: unchanged" in out
    assert "  call 3: dimension 0 of x 3 → 4\n  call 4: dimension 0 of x 3 → 5\n" in out
    assert "break GB0170: " in out
    assert "torch._dynamo.mark_dynamic(x, 0)  # before the first call" in out
    assert out.endswith(f"run {find_run(home=runs).id}\n")


def test_it_leaves_a_run_with_two_documents(guards: Guards, runs: Path) -> None:
    guards("make_model", "--vary", "none")
    (run,) = list_runs(runs)
    assert run.manifest()["verb"] == "guards"
    assert run.manifest()["subject"].endswith("model.py:make_model")
    document = run.read_json("guards.json")
    assert (document["kind"], document["schema"], len(document["graphs"])) == ("guards", 1, 1)
    assert [one["gb_id"] for one in run.read_json("breaks.json")["breaks"]] == ["GB0170"]


def test_every_guard_is_shown_on_request(guards: Guards) -> None:
    _, out, _ = guards("make_model", "--all", "--vary", "none")
    assert "self.layer.weight is a float32 parameter of shape [4, 8] on cpu that requires grad" in out
    assert ": unchanged" not in out


def test_what_varies_can_be_chosen(guards: Guards) -> None:
    code, out, _ = guards("make_model", "--vary", "x:0", "--no-trials")
    assert code == 0 and "dimension 0 of x 3 → 4" in out
    assert "tried" not in out
    _, out, _ = guards("with_mask", "--no-trials")
    assert "call 3: dimension 0 of x 3 → 4, dimension 0 of mask 3 → 4" in out


class Lazy(ModuleType):
    """Imports another module when it is asked for anything, as those of transformers do."""

    def __getattr__(self, name: str) -> object:
        sys.modules.setdefault(f"{self.__name__}.inner", ModuleType("inner"))
        raise AttributeError(name)


def test_a_module_that_imports_others_when_it_is_looked_at_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"first": sys, "lazy": Lazy("lazy"), "last": sys}
    with monkeypatch.context() as patched:
        patched.setattr(sys, "modules", modules)
        found = find_calls("no_such_file.py:make_model")
    assert found == () and "lazy.inner" in modules


def test_dynamic_is_handed_on(guards: Guards) -> None:
    _, out, _ = guards("with_mask", "--dynamic", "--no-trials")
    assert "0 recompiles" in out.partition("\n  call 1")[0]


def test_calls_of_the_users_are_made_as_they_are(guards: Guards) -> None:
    code, out, _ = guards("make_model", source=CALLS)
    assert code == 0
    assert "call 1: float32 [4]\n  call 2: input=float32 [4]\n  call 3: evaluating" in out
    assert "self.training was True, now False" in out
    assert "there is a graph for training and one for evaluation, and no more" in out


def test_calls_are_drawn_from_the_seed(guards: Guards) -> None:
    """A call with other values than the first is made only if the draw says so."""
    drawing = "\n\ndef make_calls():\n    yield torch.ones(int(torch.randint(1, 10_000, ())))\n"
    model = CALLS.partition("\n\ndef make_calls")[0] + drawing
    first, again, other = (guards("make_model", *seed, source=model)[1] for seed in ((), (), ("--seed", "1")))
    assert first.partition("\nrun ")[0] == again.partition("\nrun ")[0] != other.partition("\nrun ")[0]


@pytest.mark.prove
def test_json_is_all_there_is_on_standard_output_even_if_the_model_prints(tmp_path: Path) -> None:
    """In a process of its own, as a user runs it."""
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    answer = subprocess.run(
        [sys.executable, "-m", "repro_runner", "guards", str(tmp_path / "model.py:counting"), "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert (document["kind"], len(document["calls"])) == ("guards", 4)
    assert "counted" in answer.stderr


def test_a_limit_that_was_hit_is_exit_code_one(guards: Guards) -> None:
    code, out, _ = guards("keeps_count_too_long")
    assert code == 1
    assert "LIMIT: recompile_limit (1) is reached" in out


OUT_OF_ORDER = """
from torch._dynamo import register_backend


@register_backend
def out_of_order(graph, inputs):
    raise RuntimeError("no power")
"""


def test_a_call_that_only_the_compiler_fails_is_exit_code_one(guards: Guards) -> None:
    code, out, _ = guards("scalar", "--backend", "out_of_order", source=MODEL + OUT_OF_ORDER)
    assert code == 1
    told = "BackendCompilerFailed: backend='out_of_order' raised: RuntimeError: no power"
    assert f"failed: call 1 (as given): {told}" in out


@pytest.mark.parametrize("function", ["no_tensor", "scalar", "one_size"])
def test_models_with_nothing_to_vary_are_called_twice(guards: Guards, function: str) -> None:
    code, out, _ = guards(function)
    assert code == 0
    assert "call 2: as given, once more" in out


def test_a_size_that_the_model_refuses_is_said(guards: Guards) -> None:
    _, out, _ = guards("one_size")
    assert "not varied, since dimension 0 of x 4 → 5 fails: RuntimeError: The size of tensor a (5)" in out


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("raising", (), "model.py:56: KeyError: 'weights'; call 1 (as given) fails without torch.compile, too"),
        ("make_model", ("--vary", "y:0"), "--vary y:0: no tensor is handed over as y; there are x"),
        ("make_model", ("--vary", "x:2"), "--vary x:2: x has the shape [3, 8]"),
        ("with_mask", ("--vary", "masks:0"), "--vary masks:0: no tensor is handed over as masks; did you mean mask?"),
        ("make_model", ("--vary", "x"), "--vary x: write the argument and its dimension: --vary x:0"),
        ("make_model", ("--vary", "x:1"), "call 3 (dimension 1 of x 8 → 9) fails without torch.compile, too"),
        ("make_model", ("--backend", "eagre"), "eagre: no such backend; did you mean eager"),
        ("make_modle", (), "no `make_modle` in it; did you mean `make_model`?"),
    ],
    ids=["raises", "unknown argument", "no such dimension", "near miss", "no dimension", "refused", "backend", "name"],
)
def test_what_is_not_valid_is_told_in_one_line(
    guards: Guards, runs: Path, function: str, options: tuple[str, ...], message: str
) -> None:
    code, out, err = guards(function, *options)
    assert (code, out) == (2, "")
    assert message in err and len(err.strip().splitlines()) == 1
    assert list_runs(runs) == []


def test_calls_that_fail_to_be_made_are_told_with_their_line(guards: Guards) -> None:
    source = CALLS.replace("yield torch.ones(4)\n", "yield torch.ones('four')\n")
    code, _, err = guards("make_model", source=source)
    assert code == 2
    assert "model.py:10: TypeError: " in err and ", in make_calls()" in err


HELP = """
import sys
from repro_runner.cli.guards import main
try:
    main(["--help"])
finally:
    assert "torch" not in sys.modules
"""


def test_help_needs_no_torch() -> None:
    answer = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "make_calls()" in answer.stdout


def test_a_file_name_can_not_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = tmp_path / "model\x1b[2J\x9b\r.py"
    failing = OUT_OF_ORDER.replace("no power", "no \x1b[1A power").replace("of_order", "of_reach")
    for source, options, shown in (
        (MODEL, ("make_model", "--all"), "model\\x1b[2J\\x9b\\r.py:"),
        (MODEL + failing, ("scalar", "--backend", "out_of_reach"), "no \\x1b[1A power"),
    ):
        hostile.write_text(source, "utf-8")
        graphbreak(["guards", f"{hostile}:{options[0]}", *options[1:]])
        printed = capsys.readouterr()
        assert not {each for each in printed.out + printed.err if not each.isprintable()} - {"\n"}
        assert "model\\x1b[2J\\x9b\\r.py:" in printed.out and shown in printed.out
