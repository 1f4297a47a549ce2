"""What counts as the same result: values, and everything about them that a program could notice."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from repro_runner.judge import RESULT
from repro_runner.judge.comparing import Terms, flats_differ
from repro_runner.judge.state import flat_of

pytestmark = [pytest.mark.torch, pytest.mark.slow]

Pair = namedtuple("Pair", "left right")


@dataclass
class Box:
    held: Any


@dataclass(slots=True)
class SlottedBox:
    held: Any


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held


WRAPPERS: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: [x],
    lambda x: (1, x),
    lambda x: {"a": x},
    lambda x: OrderedDict(a=x),
    lambda x: deque([x]),
    lambda x: Pair(x, 1),
    Box,
    SlottedBox,
    Plain,
    lambda x: {"deep": [Box((x,))]},
]


def same(expected: Any, actual: Any) -> str:
    return flats_differ(RESULT, flat_of(expected, __name__), flat_of(actual, __name__), Terms())


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (torch.ones(3), torch.ones(3)),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])),
        (float("nan"), float("nan")),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        ("text", "text"),
    ],
)
def test_the_same(wrap: Callable[[Any], Any], expected: Any, actual: Any) -> None:
    assert same(wrap(expected), wrap(actual)) == ""


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (torch.ones(3), torch.tensor([1.0, 1.0, 1.1])),
        (torch.ones(3), torch.ones(3, dtype=torch.float64)),
        (torch.ones(3), torch.ones(3, 1)),
        (torch.ones(2, 3), torch.ones(3, 2).t()),
        (torch.tensor([2**24]), torch.tensor([2**24 + 1])),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 3j])),
        (torch.tensor([1.0]), torch.tensor([float("nan")])),
        (torch.ones(1), 1.0),
        (1, 1.0),
        (True, 1),
        (1.0, 1.1),
        (1.0, float("nan")),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        ("text", "texts"),
    ],
)
def test_not_the_same(wrap: Callable[[Any], Any], expected: Any, actual: Any) -> None:
    assert same(wrap(expected), wrap(actual)) != ""


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([1], (1,)),
        ({"a": 1}, OrderedDict(a=1)),
        (defaultdict(int, a=1), {"a": 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1], [1, 2]),
        (Box(1), SlottedBox(1)),
    ],
)
def test_a_container_of_another_kind_is_not_the_same(expected: Any, actual: Any) -> None:
    assert same(expected, actual) != ""


def test_containers_that_hold_themselves() -> None:
    def knot(value: float) -> list[Any]:
        items: list[Any] = [torch.tensor(value), {}]
        items.append(items)
        items[1]["up"] = items
        return items

    assert same(knot(1.0), knot(1.0)) == ""
    assert same(knot(1.0), knot(2.0)) != ""


def test_keys_may_be_tensors() -> None:
    assert same({torch.ones(2): 1}, {torch.ones(2): 1}) == ""
    assert same({torch.ones(2): 1}, {torch.zeros(2): 1}) != ""


def leaf(grad: list[float] | None) -> torch.Tensor:
    tensor = torch.ones(2, requires_grad=True)
    tensor.grad = None if grad is None else torch.tensor(grad)
    return tensor


def test_gradients_are_part_of_an_outcome() -> None:
    assert same(leaf([1.0, 2.0]), leaf([1.0, 2.0])) == ""
    assert same(leaf([1.0, 2.0]), leaf([1.0, 3.0])) != ""
    assert same(leaf([1.0, 2.0]), leaf(None)) == "result.grad: nothing instead of a tensor float32 [2]"
    assert same(leaf(None), leaf([1.0, 2.0])) == "result.grad: a tensor float32 [2] instead of nothing"
    assert same(torch.ones(2), leaf(None)) != ""
    assert same(leaf(None) * 2, leaf(None) * 2) == ""


def test_what_a_program_leaves_on_a_module_is_part_of_an_outcome() -> None:
    def module(**attributes: Any) -> torch.nn.Module:
        made = torch.nn.Sequential(torch.nn.ReLU())
        vars(made[0]).update(attributes)
        return made

    assert same(module(calls=[1]), module(calls=[1])) == ""
    assert same(module(calls=[1]), module(calls=[1, 2])) != ""
    assert same(module(last=torch.ones(1)), module(last=torch.zeros(1))) != ""
    assert same(module(), module(calls=1)) != ""
    assert same(module(helper=lambda: 1), module(helper=lambda: 2)) == ""  # not a plain value
    assert same(module(), module().eval()) != ""


def test_what_is_kept_does_not_change_any_more() -> None:
    x = torch.ones(2)
    kept = flat_of({"x": [x]})
    x.add_(1)
    assert kept["result['x'][0]"]["parts"][0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [float("inf"), complex("nan+1j"), np.arange(3.0)[::-1], np.arange(3)[::-1]])
def test_infinities_nan_and_arrays_that_run_backwards_equal_themselves(value: Any) -> None:
    assert same(value, value) == ""


def test_a_tensor_that_no_gradient_can_ever_reach_is_not_the_same() -> None:
    with torch.inference_mode():
        made = torch.ones(2)
    assert same(torch.ones(2), made) == "result: inference True instead of False"


def test_an_infinity_equals_no_other_number() -> None:
    assert same(float("inf"), -float("inf")) == "result: -inf instead of inf"
    assert same(float("inf"), 1.0) == "result: 1.0 instead of inf"
    assert same(1.0, float("inf")) == "result: inf instead of 1.0"


def test_an_object_with_another_attribute_is_not_the_same() -> None:
    one, two = Plain(1), Plain(1)
    vars(two)["more"] = vars(two).pop("held")
    assert same(one, two) == "result.held: nothing instead of 1"


def test_functions_are_made_anew_by_every_run_and_differ_in_their_attributes_alone() -> None:
    def make(mark: int) -> Any:
        def function() -> None: ...

        function.mark = mark  # type: ignore[attr-defined]
        return function

    assert same(make(1), make(1)) == ""
    assert same(make(1), make(2)) == "result.mark: 2 instead of 1"
