"""Two observations: the first difference, by what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from repro_runner.judge import ERROR, INPUTS, MEMORY, MODES, OUT, RANDOM, RECORDS, RESULT, STATE
from repro_runner.judge.comparing import (
    Terms,
    call_differs,
    flats_differ,
    gradients_differ,
    texts_differ,
    unsteady_paths,
)
from repro_runner.judge.leaves import Room, leaf_of
from repro_runner.judge.observation import Call, Observation, Plan

pytestmark = pytest.mark.torch
PLAN = Plan(seed=0)


def leaf(*numbers: float) -> Any:
    return leaf_of(torch.tensor(numbers, dtype=torch.float32), Room())


def call(**seen: Any) -> Call:
    names = {"result": RESULT, "state": STATE, "inputs": INPUTS, "memory": MEMORY, "out": OUT, "random": RANDOM}
    return Call(plan=PLAN, seen={names.get(aspect, aspect): flat for aspect, flat in seen.items()})


def found(
    expected: Call,
    actual: Call,
    *,
    was: dict[str, Any] | None = None,
    own: dict[str, Any] | None = None,
    terms: Terms | None = None,
) -> tuple[str, str]:
    """(aspect, text) of the difference. `was` is the state of the program before, `own` that of the changed one."""
    before = Observation(before=was or {})
    after = Observation(before=(was or {}) if own is None else own)
    unlike = call_differs(expected, actual, before, after, terms or Terms())
    return (unlike.aspect, unlike.text) if unlike else ("", "")


@pytest.mark.parametrize(
    ("expected", "actual", "aspect", "said"),
    [
        (call(result={"result": 1}), call(result={"result": 2}), RESULT, "result: 2 instead of 1"),
        (call(result={"result": 1}), call(result={}), RESULT, "result: nothing instead of 1"),
        (call(result={}), call(result={"result.more": 1}), RESULT, "result.more: 1 instead of nothing"),
        (call(inputs={"inputs[0]": leaf(1)}), call(inputs={"inputs[0]": leaf(2)}), INPUTS, "not close"),
        (
            call(result={"result": ("same", "inputs[0]")}),
            call(result={"result": leaf(1)}),
            RESULT,
            "result is not the same object as inputs[0], unlike in eager",
        ),
        (
            call(result={"result": leaf(1)}),
            call(result={"result": ("same", "TABLE")}),
            RESULT,
            "result is the same object as TABLE, unlike in eager",
        ),
        (call(memory={}), call(memory={"result and TABLE": True}), MEMORY, "result and TABLE share memory"),
        (call(memory={"result and inputs[0]": True}), call(memory={}), MEMORY, "share no memory"),
        (call(out={OUT: "a\n"}), call(out={OUT: ""}), OUT, "0 lines instead of 1, the first of them 'a'"),
        (call(random={"torch": "a"}), call(random={"torch": "b"}), RANDOM, "torch: 'b' instead of 'a'"),
        (
            Call(plan=PLAN, error=("ValueError", "bad"), deliberate=True),
            Call(plan=PLAN),
            ERROR,
            "raised nothing, not ValueError",
        ),
        (
            Call(plan=PLAN, error=("ValueError", "bad"), deliberate=True),
            Call(plan=PLAN, error=("ValueError", "worse")),
            ERROR,
            "raised ValueError with the text 'worse', not 'bad'",
        ),
        (Call(plan=PLAN), Call(plan=PLAN, error=("KeyError", "x")), ERROR, "raised KeyError: x, not nothing"),
    ],
)
def test_the_difference_is_found_and_has_its_aspect(expected: Call, actual: Call, aspect: str, said: str) -> None:
    was, text = found(expected, actual)
    assert (was, said in text) == (aspect, True), text
    assert found(expected, expected) == ("", "")
    if aspect != ERROR:
        assert found(expected, actual, terms=Terms(left_out=frozenset({aspect}))) == ("", "")


def test_the_text_of_an_error_that_the_program_did_not_raise_itself_does_not_count() -> None:
    raised = Call(plan=PLAN, error=("RuntimeError", "expected 3"))
    assert found(raised, replace(raised, error=("RuntimeError", "sizes must match"))) == ("", "")


def test_memory_that_the_program_shares_with_itself_does_not_count() -> None:
    assert found(call(memory={}), call(memory={"LAYER.bias and TABLE": True})) == ("", "")


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ({"COUNT": 1}, {"COUNT": 0}, "COUNT is not changed, as it is in eager"),
        ({"COUNT": 0}, {"COUNT": 1}, "COUNT is changed, unlike in eager"),
        ({"COUNT": 1}, {"COUNT": 2}, "COUNT: 2 instead of 1"),
        ({}, {"COUNT": 0}, "COUNT is not changed, as it is in eager"),
        ({"COUNT": 0}, {}, "COUNT is changed, unlike in eager"),
        ({"COUNT": 1}, {}, "COUNT: gone instead of 1"),
    ],
)
def test_what_is_left_behind_in_another_way_is_state(one: dict[str, Any], two: dict[str, Any], said: str) -> None:
    assert found(call(state=one), call(state=two), was={"COUNT": 0}) == (STATE, said)


def test_a_fix_may_have_names_of_its_own_and_other_names_for_equal_values() -> None:
    own = {"COUNT": 0, "CACHE": 0}
    assert found(call(state={"COUNT": 1}), call(state={"COUNT": 1, "CACHE": 5}), was={"COUNT": 0}, own=own) == ("", "")
    was, renamed = {"LAYER.weight": leaf(1)}, {"MODEL.weight": leaf(1)}
    assert found(call(state=was), call(state=renamed), was=was, own=renamed) == ("", "")
    changed = call(state={"LAYER.weight": leaf(2)})
    assert found(changed, call(state={"MODEL.weight": leaf(2)}), was=was, own=renamed) == ("", "")
    assert found(changed, call(state={"MODEL.weight": leaf(1)}), was=was, own=renamed)[0] == STATE


def test_what_differs_between_two_runs_of_the_program_is_not_compared() -> None:
    one, again = call(result={"a": 1, "b": 1}, out={OUT: "1 s"}), call(result={"a": 1, "b": 2}, out={OUT: "2 s"})
    unsteady = unsteady_paths(Observation(calls=(one,)), Observation(calls=(again,)), Terms())
    assert unsteady == {(RESULT, "b"), (OUT, OUT)}
    other = call(result={"a": 1, "b": 3}, out={OUT: "3 s"})
    assert found(one, other, terms=Terms(unsteady=unsteady)) == ("", "")
    wrong = call(result={"a": 2, "b": 3}, out={OUT: "3 s"})
    assert found(one, wrong, terms=Terms(unsteady=unsteady))[0] == RESULT


def test_what_matters_most_is_said_first() -> None:
    one = call(result={"result": 1}, state={"COUNT": 1}, random={"torch": "a"})
    two = call(result={"result": 2}, state={"COUNT": 2}, random={"torch": "b"})
    assert found(one, two)[0] == RESULT
    assert found(one, replace(two, error=("ValueError", "")))[0] == ERROR


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("loss 0.5", "loss 0.49999998"),
        ("tensor([0.1235, 2.0000])", "0.12345679 2.0"),
        ("loss 0.12", "loss 0.13"),
        ("loss nan", "loss nan"),
        ("1e-05", "1e-05"),
        ("<f at 0x7f1122334455>", "<f at 0x7f9922334455>"),
        ("a\n\nb", "a\nb"),
        ("V1119 00:00:00.000 torch/_dynamo/convert_frame.py:1] breaks\na", "a"),
        ("[rank0]:W1119 00:00:00.000 7 torch/utils/cpp_extension.py:183] No CUDA\na", "a"),
    ],
)
def test_these_texts_are_the_same(one: str, two: str) -> None:
    assert texts_differ(one, two, "out") == texts_differ(two, one, "out") == ""


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("loss 0.4912", "loss 0.5"),
        ("loss 0.4912", "loss 0.6"),
        ("loss 0.12", "loss 0.14"),
        ("3 rows", "4 rows"),
        ("1 row", "1 row 2"),
        ("loss 0.5", "loss"),
        ("nan", "inf"),
        ("loss 0.5", "loss -0.5"),
        ("1e-05", "1e-06"),
        ("mean", "sum"),
        ("a\nb", "b\na"),
        ("a", "a\na"),
    ],
)
def test_these_texts_differ(one: str, two: str) -> None:
    assert texts_differ(one, two, "out")
    assert texts_differ(two, one, "out")


def test_no_gradient_is_a_gradient_of_zeros_and_parameters_may_have_other_names() -> None:
    assert gradients_differ({"a": None}, {"a": leaf(0, 0)}) == ""
    assert gradients_differ({"a": leaf(0, 0)}, {}) == ""
    assert gradients_differ({"layer.weight": leaf(1, 2)}, {"model.weight": leaf(1, 2)}) == ""
    assert gradients_differ({"a": None}, {"a": leaf(1)}) == "a gradient reaches a, unlike in eager"
    assert gradients_differ({"a": leaf(1)}, {"a": None}) == "no gradient reaches a, unlike in eager"
    assert "the gradient of a: " in gradients_differ({"a": leaf(1)}, {"a": leaf(2)})
    assert gradients_differ({"a": leaf(float("nan"))}, {"a": None})


@pytest.mark.parametrize("rounding", [0.0, 0.016])
def test_a_gradient_that_comes_back_through_half_precision_is_as_exact_as_that(rounding: float) -> None:
    one, two = (call(gradients={"inputs[0]": leaf(*numbers)}) for numbers in ((1.0, 3.0), (1.0, 3.01)))
    exact = call_differs(one, replace(two, rounding=rounding), Observation(), Observation(), Terms())
    assert exact is not None  # what the changed program says of itself does not count
    unlike = call_differs(replace(one, rounding=rounding), two, Observation(), Observation(), Terms())
    assert (unlike is None) == bool(rounding)


def test_a_flat_value_differs_at_a_path() -> None:
    assert flats_differ("", {"a": 1, "b": 2}, {"b": 2, "a": 1}, Terms()) == ""
    assert flats_differ(MODES, {"a": 1}, {"a": 2}, Terms(unsteady=frozenset({(MODES, "a")}))) == ""
    assert flats_differ(RECORDS, {"a": 1}, {"a": 2}, Terms()) == "a: 2 instead of 1"
