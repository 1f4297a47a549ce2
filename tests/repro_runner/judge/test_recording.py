"""A call is made with planned inputs, and all that it does is in the record."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.judge import ASPECTS, FILES, GRADIENTS, INPUTS, MEMORY, MODES, RANDOM, RESULT, STATE, TORCH, WARNINGS
from repro_runner.judge.gradients import set_seed
from repro_runner.judge.observation import Call, Plan
from repro_runner.judge.recording import NO_INPUT, THE_FUNCTION, Calls

pytestmark = pytest.mark.torch
PROGRAM = """
import time
import warnings
from pathlib import Path

import torch

COUNT = 0
HISTORY = []


def mixed(x):
    with torch.autocast("cpu", torch.bfloat16):
        return torch.outer(x, x).mm(torch.ones(3, 1)).float()


def beside(x):
    return x * 2 + x.bfloat16().float().mean() * 0


def plain(x):
    global COUNT
    COUNT += 1
    x += 1
    return x, x[:1]


def remembers(x):
    HISTORY.append(x)
    return x * 2


def raises(x):
    if x.sum() < 0:
        raise ValueError("it is negative")
    return x @ torch.ones(7) if len(x) != 7 else x


def writes(x):
    (Path(__file__).parent / "out.txt").write_text(str(len(x)))
    return x


def draws(x):
    return x + torch.rand(1)


def never_ends(x):
    while x.isnan().any():
        time.sleep(0.01)
    return x


def whole_numbers(x):
    return x.long()


def hooked(x):
    x.register_hook(lambda grad: warnings.warn("flows") or HISTORY.append(7))
    return x * 2
"""


@pytest.fixture
def module(tmp_path: Path) -> Iterator[types.ModuleType]:
    path = tmp_path / "judged_program.py"
    path.write_text(PROGRAM)
    spec = spec_from_file_location("judged_program", path)
    assert spec
    assert spec.loader
    made = module_from_spec(spec)
    sys.modules[made.__name__] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules[made.__name__]


def draw(seed: int) -> tuple[Any, ...]:
    set_seed(seed)
    return (torch.rand(3) + 0.5,)


Make = Callable[..., Call]


@pytest.fixture
def make(module: types.ModuleType) -> Make:
    def made(name: str, variation: str = "", gradients: str = "", inputs: Any = draw, seconds: float = 0.0) -> Call:
        function = getattr(module, name)
        calls = Calls(module, function, inputs, functions=frozenset({name}))
        calls.seconds = seconds
        (call,) = calls.make(function, [Plan(seed=0, variation=variation, gradients=gradients)])
        return call

    return made


def test_what_a_call_changes_returns_and_shares_is_recorded(make: Make) -> None:
    call = make("plain")
    assert call.error == ("", "")
    assert call.seen[RESULT]["result[0]"] == ("same", "inputs[0]")
    assert call.seen[STATE]["COUNT"] == 1
    assert THE_FUNCTION in call.seen[STATE]
    before, after = call.given["inputs[0]"]["parts"][0], call.seen[INPUTS]["inputs[0]"]["parts"][0]
    assert torch.equal(before + 1, after)
    assert "result[1] and inputs[0]" in call.seen[MEMORY]
    assert call.seen.keys() == set(ASPECTS) - {GRADIENTS, "exceptions", TORCH}


def test_an_input_that_is_kept_and_a_file_and_a_drawn_number_are_recorded(make: Make) -> None:
    assert make("remembers").seen[INPUTS]["inputs[0]"] == ("same", "HISTORY[0]")
    assert "out.txt" in make("writes").seen[FILES]
    still, drawn = make("remembers"), make("draws")
    assert still.seen[RANDOM] == make("remembers").seen[RANDOM] != drawn.seen[RANDOM]
    assert still.seen[MODES] == drawn.seen[MODES]


def test_an_error_that_the_program_raises_is_deliberate_and_one_of_torch_is_not(make: Make) -> None:
    negative = make("raises", "negative")
    assert (negative.error, negative.deliberate, negative.failed) == (("ValueError", "it is negative"), True, False)
    assert RESULT not in negative.seen
    assert INPUTS in negative.seen
    unfit = make("raises")
    assert (unfit.error[0], unfit.deliberate, unfit.failed) == ("RuntimeError", False, True)


def test_inputs_that_cant_be_changed_so_are_no_inputs(make: Make) -> None:
    call = make("plain", "size 3 to 4", inputs=lambda _: (torch.empty(0).expand(3, 0),))
    assert call.failed == (call.error[0] == NO_INPUT)
    assert make("plain", "large 1").error[0] == NO_INPUT


def test_a_call_with_other_inputs_that_never_ends_is_ended(make: Make) -> None:
    assert make("never_ends", "nan", seconds=0.2).error == ("TimeoutError", "it took longer than 0.2 s")
    assert make("never_ends", seconds=0.2).error == ("", "")


@pytest.mark.parametrize("kind", ["leaves", "non-leaves"])
def test_gradients_are_those_of_all_inputs(make: Make, kind: str) -> None:
    (gradient,) = make("remembers", gradients=kind).seen[GRADIENTS].values()
    set_seed(0)
    torch.testing.assert_close(gradient["parts"][0], 2 * torch.randn(3))


@pytest.mark.parametrize(("name", "rounding"), [("remembers", 0.0), ("mixed", 0.016), ("beside", 0.0)])
def test_what_a_gradient_passes_through_says_how_exact_it_is(make: Make, name: str, rounding: float) -> None:
    assert make(name, gradients="non-leaves").rounding == rounding


def test_a_result_without_a_gradient_and_inputs_without_one_are_told_apart(make: Make) -> None:
    assert make("whole_numbers", gradients="leaves").seen[GRADIENTS] == {"inputs[0]": None}
    nothing = make("remembers", gradients="leaves", inputs=lambda _: (torch.ones(2, dtype=torch.long),))
    assert nothing.error[0] == NO_INPUT


def test_what_hooks_do_while_gradients_flow_is_recorded(make: Make) -> None:
    seen = make("hooked", gradients="leaves").seen
    assert seen[STATE]["HISTORY[0]"] == 7
    assert seen[WARNINGS]["warning 1"] == "UserWarning: flows"


def test_a_leaf_can_not_be_changed_in_place_and_a_result_of_an_operation_can(make: Make) -> None:
    assert make("plain", gradients="leaves").error[0] == "RuntimeError"
    assert make("plain", gradients="non-leaves").error == ("", "")


def test_the_same_plan_gives_the_same_record(make: Make) -> None:
    one, two = make("draws"), make("draws")
    assert torch.equal(one.seen[RESULT]["result"]["parts"][0], two.seen[RESULT]["result"]["parts"][0])
