"""What counts as the same outcome: values, and everything about them that a program could notice."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from repro_runner.values import (
    TOLERANCES,
    Outcome,
    copies_of,
    difference,
    keep,
    tensors_in,
    tolerance_of,
    values_differ,
)

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
    return difference(Outcome(keep(expected), None), Outcome(keep(actual), None))


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
    assert same(leaf([1.0, 2.0]), leaf(None)) == "result: no gradient, unlike eager"
    assert same(leaf(None), leaf([1.0, 2.0])) == "result: a gradient, unlike eager"
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
    kept = keep({"x": [x]})
    x.add_(1)
    assert kept["x"][0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [float("inf"), complex("nan+1j"), np.arange(3.0)[::-1], np.arange(3)[::-1]])
def test_infinities_nan_and_arrays_that_run_backwards_equal_themselves(value: Any) -> None:
    assert same(value, value) == ""


def test_an_infinity_equals_no_other_number() -> None:
    assert same(float("inf"), -float("inf")) == "result: -inf instead of inf"
    assert same(float("inf"), 1.0) == "result: 1.0 instead of inf"
    assert same(1.0, float("inf")) == "result: inf instead of 1.0"


def test_an_object_with_another_attribute_is_not_the_same() -> None:
    one, two = Plain(1), Plain(1)
    vars(two)["more"] = vars(two).pop("held")
    assert same(one, two) == "result: .more instead of .held"


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_the_table_has_the_tolerances_of_torch_testing(dtype: torch.dtype) -> None:
    assert tolerance_of(dtype) == torch.testing._comparison.default_tolerances(dtype)
    assert all(loose >= own for loose, own in zip(tolerance_of(dtype, fused=True), tolerance_of(dtype), strict=True))


def test_every_tensor_in_a_value_is_found() -> None:
    tensors = [torch.full((1,), float(number)) for number in range(6)]
    value = ({"a": tensors[0]}, [Box(tensors[1])], Pair(tensors[2], deque([tensors[3]])), Plain(tensors[4]), tensors[5])
    assert [float(tensor) for tensor in tensors_in(value)] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_functions_are_made_anew_by_every_run_and_differ_in_their_attributes_alone() -> None:
    def make(mark: int) -> Any:
        def function() -> None: ...

        function.mark = mark  # type: ignore[attr-defined]
        return function

    assert values_differ(make(1), make(1), "result") == ""
    assert values_differ(make(1), make(2), "result") == "result['mark']: 2 instead of 1"


def _negated() -> torch.Tensor:
    return torch.randn(4, dtype=torch.complex64).conj().imag


@pytest.mark.parametrize(
    "tensor",
    [
        torch.rand(3, 4)[:, 1::2],
        torch.rand(1, 4).expand(3, 4),
        torch.randn(4, dtype=torch.complex64).conj(),
        _negated(),
        _negated().requires_grad_() * 2,
        torch.nn.Parameter(torch.rand(3, 4)[1:, ::2]),
        torch.nn.Parameter(torch.rand(3), requires_grad=False),
        torch.nn.Parameter(torch.randn(3, dtype=torch.complex64).conj()),
        torch.rand(0, 3),
        torch.rand(3, device="meta"),
        torch.rand(3).to_sparse().requires_grad_(),
    ],
    ids=lambda tensor: type(tensor).__name__ + str(list(tensor.shape)),
)
def test_a_copy_is_a_leaf_that_lies_in_its_memory_as_the_tensor_does(tensor: torch.Tensor) -> None:
    copied = copies_of([tensor])[id(tensor)]
    assert copied is not tensor and copied.is_leaf
    assert type(copied) is type(tensor)
    assert (copied.is_conj(), copied.is_neg()) == (tensor.is_conj(), tensor.is_neg())
    assert tensor.layout != torch.strided or copied.storage_offset() == tensor.storage_offset()
    assert not values_differ(tensor, copied, "")  # which compares strides and requires_grad, too


def test_copies_share_memory_as_the_tensors_do() -> None:
    whole = torch.zeros(4)
    given = [whole[1:], torch.nn.Parameter(whole), torch.zeros(4), whole]
    copies = copies_of([*given, whole])
    held = copy.deepcopy(Plain(whole[:2]), copies).held  # only deepcopy finds this one
    held.add_(1)
    assert [copies[id(each)].tolist() for each in given] == [[1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]
    assert whole.tolist() == [0, 0, 0, 0]


def test_a_tensor_whose_class_cannot_be_copied_is_cloned() -> None:
    class Stubborn(torch.Tensor):
        def __deepcopy__(self, _memo: Any) -> Any:
            raise TypeError("no copies")

    tensor = torch.rand(3).as_subclass(Stubborn).requires_grad_()
    copied = copies_of([tensor])[id(tensor)]
    assert type(copied) is Stubborn and copied.requires_grad and copied.is_leaf
    assert copied.data_ptr() != tensor.data_ptr()
