"""A user's model by name: every way to write one down, and every way to get it wrong."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch

from registry.errors import InvalidInput
from repro_runner.model_under_test import ModelFailed, ModelUnderTest, load_model
from repro_runner.values import tensors_in

pytestmark = pytest.mark.torch

MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x, *, scale=1.0):
        return self.linear(x) * scale
"""


Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Put code into a file of its own, and name it; what importing it leaves in the process goes again."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def written(code: str, name: str = "model.py") -> str:
        path = tmp_path / name
        path.write_text(MODEL + dedent(code), "utf-8")
        return str(path)

    yield written
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


WAYS = {
    "a model with a tensor": "def make_model(): return Model(), torch.ones(4, 3)",
    "a model with a tuple of arguments": "def make_model(): return Model(), (torch.ones(4, 3),)",
    "a model with keywords": "def make_model(): return Model(), {'x': torch.ones(4, 3)}",
    "a model with both": "def make_model(): return Model(), (torch.ones(4, 3),), {'scale': 1.0}",
    "a list": "def make_model(): return [Model(), [torch.ones(4, 3)]]",
    "a model beside make_inputs": "def make_model(): return Model()\ndef make_inputs(): return torch.ones(4, 3)",
    "a model beside inputs": "def make_model(): return Model()\ndef inputs(): return (torch.ones(4, 3),)",
    "a class": "make_model = Model\ndef make_inputs(): return torch.ones(4, 3)",
    "a module": "make_model = Model()\ndef make_inputs(): return torch.ones(4, 3)",
    "a function that takes the inputs": "def make_model(x): return x[:, :2]\ndef inputs(): return torch.ones(4, 3)",
    "a model without inputs": "def make_model(): return lambda: torch.ones(4, 2)",
    "a default argument": "def make_model(width=3): return Model(), torch.ones(4, width)",
}


@pytest.mark.parametrize("code", WAYS.values(), ids=WAYS)
def test_a_model_can_be_written_down_in_many_ways(write: Write, code: str) -> None:
    subject = load_model(f"{write(code)}:make_model")
    assert subject.run().shape == (4, 2)


WRONG = {
    "no function named": ("", "", "name the function that makes the model: MODEL.py:make_model"),
    "no such function": ("def make_modle(): ...", ":make_model", "no `make_model` in it; did you mean `make_modle`?"),
    "nothing like it": ("", ":xyzzy", "no `xyzzy` in it"),
    "not callable": ("def make_model(): return 3, torch.ones(2)", ":make_model", "makes an object of class int, which"),
    "nothing returned": (
        "def make_model(): pass\ndef inputs(): return ()",
        ":make_model",
        "makes nothing, which can't",
    ),
    "four things": ("def make_model(): return 1, 2, 3, 4", ":make_model", "makes 4 things; return `(model, inputs)`"),
    "no inputs": (
        "def make_model(): return Model()",
        ":make_model",
        "nothing says what to call the model with; return",
    ),
    "numbers as keywords": ("def make_model(): return Model(), {1: 2}", ":make_model", "names of keyword arguments"),
}


@pytest.mark.parametrize(("code", "name", "told"), WRONG.values(), ids=WRONG)
def test_what_is_no_model_is_refused_with_the_remedy(write: Write, code: str, name: str, told: str) -> None:
    spec = f"{write(code)}{name}"
    with pytest.raises(InvalidInput) as refused:
        load_model(spec)
    assert not isinstance(refused.value, ModelFailed)
    assert str(refused.value).startswith(f"{spec}: ")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("missing.py:make_model", "missing.py: no such file"),
        (".:make_model", ".: not a Python file, nor the name of a module"),
        ("no_such_module_here:make", "No module named 'no_such_module_here', while importing it"),
        ("os.path:join", "join"),
    ],
)
def test_a_file_that_is_not_there_is_refused(spec: str, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_model(spec)
    assert told in str(refused.value)


RAISING = {
    "while it is imported": ("raise ValueError('bad')", 12, "ValueError: bad, while importing it"),
    "by exiting": ("import sys\nsys.exit('gone')", 13, "SystemExit: gone, while importing it"),
    "in make_model": ("def make_model():\n    raise ValueError('bad')", 13, "ValueError: bad, in make_model()"),
    "in make_inputs": (
        "def make_model(): return Model()\ndef make_inputs():\n    raise KeyError('x')",
        14,
        "KeyError: 'x', in make_inputs()",
    ),
}


@pytest.mark.parametrize(("code", "line", "told"), RAISING.values(), ids=RAISING)
def test_code_that_raises_is_named_with_its_line(write: Write, code: str, line: int, told: str) -> None:
    file = write(code)
    with pytest.raises(ModelFailed) as failed:
        load_model(f"{file}:make_model")
    assert str(failed.value) == f"{file}:{line}: {told}"


def test_a_file_that_is_no_python_is_named_with_its_line(write: Write) -> None:
    file = write("def make_model(:")
    with pytest.raises(ModelFailed, match=rf"{file}:12: SyntaxError: .*, while importing it"):
        load_model(f"{file}:make_model")


def test_a_model_that_fails_without_torch_compile_is_named_with_its_line(write: Write) -> None:
    file = write("def make_model(): return Model(), torch.ones(4, 5)")
    with pytest.raises(ModelFailed) as failed:
        load_model(f"{file}:make_model").run_eagerly()
    assert str(failed.value).startswith(f"{file}:11: RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert str(failed.value).endswith("; it fails without torch.compile, too")


def test_what_lies_beside_the_file_can_be_imported_by_it(write: Write) -> None:
    write("WIDTH = 3", "beside_the_model.py")
    file = write("from beside_the_model import WIDTH\ndef make_model(): return Model(), torch.ones(4, WIDTH)")
    assert load_model(f"{file}:make_model").run().shape == (4, 2)


def test_a_module_is_named_as_it_is_imported(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("def make_model(): return Model(), torch.ones(4, 3)", "a_module_of_models.py")
    monkeypatch.chdir(Path(file).parent)
    assert load_model("a_module_of_models:make_model").run().shape == (4, 2)


def test_a_file_named_like_an_imported_module_is_itself(write: Write) -> None:
    file = write("def make_model(): return Model(), torch.ones(4, 3)", "json.py")
    assert load_model(f"{file}:make_model").run().shape == (4, 2)
    assert hasattr(sys.modules["json"], "dumps")


def test_a_file_that_was_changed_is_read_again(write: Write) -> None:
    file = write("def make_model(): return Model(), torch.ones(4, 3)")
    assert load_model(f"{file}:make_model").run().shape == (4, 2)
    write("def make_model(): return Model(), torch.ones(7, 3)")
    assert load_model(f"{file}:make_model").run().shape == (7, 2)


def test_weights_and_inputs_follow_the_seed(write: Write) -> None:
    spec = f"{write('def make_model(): return Model(), torch.randn(4, 3)')}:make_model"
    first, again, other = load_model(spec), load_model(spec), load_model(spec, seed=1)
    assert torch.equal(first.run(), again.run())
    assert not torch.equal(first.args[0], other.args[0])


def test_a_model_that_writes_into_itself_and_its_input_starts_fresh_each_time() -> None:
    class Counting(torch.nn.Module):
        calls: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            x.add_(self.calls)
            return x + torch.rand(())

    given = torch.ones(3)
    subject = ModelUnderTest(name="counting", model=Counting(), args=(given,))
    assert torch.equal(subject.run(), subject.run())
    assert torch.equal(given, torch.ones(3))


def test_inputs_are_copied_with_their_gradients_and_their_sharing() -> None:
    leaf = torch.ones(3, requires_grad=True)
    subject = ModelUnderTest(name="f", model=print, args=(leaf, [leaf, 4]), kwargs={"again": leaf})
    args, kwargs = subject.fresh_inputs()
    assert args[0] is args[1][0] is kwargs["again"]
    assert args[0] is not leaf
    assert args[0].requires_grad
    assert args[1][1] == 4


def test_inputs_that_share_memory_share_it_in_the_copies() -> None:
    given = torch.zeros(4)
    (whole, part), _ = ModelUnderTest(name="f", model=print, args=(given, given[::2])).fresh_inputs()
    whole.add_(1)
    assert (part.tolist(), part.stride(), given.tolist()) == ([1, 1], (2,), [0, 0, 0, 0])


def test_a_model_is_copied_with_its_strides_its_sharing_and_its_buffers() -> None:
    model = torch.nn.Linear(2, 2)
    model.weight = torch.nn.Parameter(torch.rand(2, 4)[:, ::2])
    model.row = model.weight.detach()[0]
    model.kept = torch.nn.Buffer(torch.zeros(2))
    model.weight.scale = 3  # type: ignore[attr-defined]
    fresh: Any = ModelUnderTest(name="m", model=model).fresh_model()
    assert fresh.weight.stride() == (4, 2) and fresh.weight.scale == 3
    assert isinstance(fresh.weight, torch.nn.Parameter) and isinstance(fresh.kept, torch.nn.Buffer)
    fresh.row.fill_(7)
    assert fresh.weight[0].tolist() == [7, 7] != model.weight[0].tolist()


def test_nothing_of_a_model_is_taken_for_copied_because_of_its_address() -> None:
    # deepcopy looks up what it copied by address, and keeps those objects alive under the address of its memo. Under
    # any other address, they would be the copy of whatever comes to lie there.
    class Copied(torch.nn.Linear):
        def __deepcopy__(self, memo: dict[int, Any]) -> Copied:
            kept.extend(key == id(memo) for key, value in memo.items() if isinstance(value, list))
            return self

    kept: list[bool] = []
    ModelUnderTest(name="m", model=Copied(2, 2)).fresh_model()
    assert kept == [True]


@pytest.mark.parametrize("keep", [lambda state: state, lambda state: [state]], ids=["itself", "in a list"])
def test_a_model_that_holds_what_an_earlier_call_computed_is_copied(keep: Any) -> None:
    class Stateful(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.state = keep(self.layer(torch.ones(3)))

        def forward(self, x: torch.Tensor) -> Any:
            (state,) = tensors_in(self.state)
            return self.layer(x) + state.add_(1)

    subject = ModelUnderTest(name="m", model=Stateful(), args=(torch.ones(3),))
    assert torch.equal(subject.run(), subject.run())


def test_a_model_that_cannot_be_copied_is_not_said_to_fail() -> None:
    model: Any = torch.nn.Linear(3, 3)
    model.lock = threading.Lock()
    with pytest.raises(InvalidInput, match=r"TypeError: cannot .*; each run needs a copy of the model") as told:
        ModelUnderTest(name="m", model=model, args=(torch.ones(3),)).run_eagerly()
    assert not isinstance(told.value, ModelFailed)


def test_a_model_without_parameters_and_one_without_tensors_run() -> None:
    assert ModelUnderTest(name="f", model=torch.relu, args=(torch.tensor(-1.0),)).run() == 0
    assert ModelUnderTest(name="f", model=lambda: "text").run() == "text"


@dataclass
class Output:
    logits: torch.Tensor
    rest: dict[str, object]


def test_tensors_are_found_in_whatever_a_model_returns() -> None:
    from transformers.modeling_outputs import BaseModelOutput

    one, two, three, four = torch.ones(4).unbind()
    output = [
        Output(logits=one, rest={"a": (two, "text", None)}),
        BaseModelOutput(last_hidden_state=three),
        {"b": four},
    ]
    found = tensors_in(output)
    assert [id(each) for each in found] == [id(each) for each in (one, two, three, four)]
    assert tensors_in("no tensor") == []
