"""Other inputs, made of those that a program draws."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from registry.model import LIMIT_KINDS
from repro_runner.judge.inputs import SEARCHED, kind_of, plain_variations, searches, variations_of, vary

pytestmark = pytest.mark.torch


def given() -> tuple[Any, ...]:
    return torch.tensor([[1.0, -2.0], [3.0, 4.0]]), torch.tensor([5, 6]), 3, 0.5, True


@pytest.mark.parametrize(
    ("variation", "expected"),
    [
        ("zero", [[0.0, 0.0], [0.0, 0.0]]),
        ("negative", [[-1.0, -2.0], [-3.0, -4.0]]),
        ("nan", [[float("nan"), -2.0], [3.0, float("nan")]]),
        ("inf", [[float("inf"), -2.0], [3.0, float("-inf")]]),
        ("large", [[1e4, -2e4], [3e4, 4e4]]),
        ("large 0", [[1e4, -2e4], [3e4, 4e4]]),
        ("large 1", [[1.0, -2.0], [3.0, 4.0]]),
        ("strided", [[1.0, -2.0], [3.0, 4.0]]),
        ("size 2 to 1", [[1.0]]),
        ("size 2 to 3", [[1.0, -2.0, 1.0], [3.0, 4.0, 3.0], [1.0, -2.0, 1.0]]),
        ("other side 0", [[10.0, -20.0], [30.0, 40.0]]),
        ("other side 4", [[-1.0, 2.0], [-3.0, -4.0]]),
    ],
)
def test_tensors_are_changed_so(variation: str, expected: list[list[float]]) -> None:
    changed = vary(given(), variation)
    torch.testing.assert_close(changed[0], torch.tensor(expected), equal_nan=True)
    assert changed[2:] == (3, 0.5, True)


def test_another_layout_and_another_dtype_keep_the_numbers() -> None:
    strided, double = vary(given(), "strided")[0], vary(given(), "dtype float64")[0]
    assert not strided.is_contiguous()
    assert double.dtype is torch.float64
    assert torch.equal(strided, given()[0])
    assert torch.equal(double.float(), given()[0])


@pytest.mark.parametrize(
    ("variation", "expected"),
    [("number 2", (4, 0.5, True)), ("number 3", (3, 1.25, True)), ("number 4", (3, 0.5, False))],
)
def test_a_number_of_python_becomes_another_one(variation: str, expected: tuple[object, ...]) -> None:
    changed = vary(given(), variation)
    assert changed[2:] == expected
    assert changed[0].dtype is torch.float32
    assert torch.equal(changed[0], given()[0])


def test_lists_and_dictionaries_of_tensors_get_one_more() -> None:
    held = ([torch.ones(2)], {"a": torch.zeros(2)}, (torch.ones(2),), ["text"])
    assert "size of lists by 1" in set(variations_of(held))
    assert "size of lists by 1" not in set(variations_of(held[2:]))
    listed, named, *others = vary(held, "size of lists by 1")
    assert [each.tolist() for each in listed] == [[1.0, 1.0]] * 2
    assert named.keys() == {"a", "one_more"}
    assert others == [held[2], held[3]]


def test_integers_stay_what_they_are_unless_a_branch_is_searched() -> None:
    for variation in plain_variations():
        assert vary(given(), variation)[1].tolist() == [5, 6]
    assert any(vary(given(), variation)[1].tolist() != [5, 6] for variation in searches())


def test_whole_numbers_are_given_as_floats_too() -> None:
    assert "dtype of whole numbers" in set(variations_of(given()))
    assert "dtype of whole numbers" not in set(variations_of((torch.ones(2), torch.ones(2, dtype=torch.bool), 3)))
    one, two, *others = vary(given(), "dtype of whole numbers")
    assert (one.dtype, two.dtype, two.tolist(), others) == (torch.float32, torch.float32, [5.0, 6.0], [3, 0.5, True])


def test_a_tensor_that_is_given_twice_or_as_a_view_stays_so() -> None:
    one = torch.ones(4)
    for variation in (*plain_variations(), "size 4 to 5", "dtype float64"):
        first, second = vary((one, one), variation)
        assert first is second
    base, view = vary((one, one[1:]), "negative")
    assert base.untyped_storage().data_ptr() == view.untyped_storage().data_ptr()


def test_a_leaf_that_requires_grad_does_so_afterwards() -> None:
    for variation in (*plain_variations(), "size 2 to 3", "dtype float64"):
        (changed,) = vary((torch.ones(2, requires_grad=True),), variation)
        assert changed.requires_grad
        assert changed.is_leaf or variation == "strided"


def test_what_is_tried_besides_depends_on_the_inputs() -> None:
    tried = list(variations_of(given()))
    assert [one for one in tried if one.startswith("size")] == ["size 2 to 3", "size 2 to 9", "size 2 to 1"]
    assert [one for one in tried if one.startswith("number")] == ["number 2", "number 3", "number 4"]
    assert [one for one in tried if one.startswith("large")] == ["large 0", "large 1"]
    assert list(variations_of((torch.ones(2, 70),)))[-3:] == ["size 70 to 71", "size 70 to 1", "size of all by 1"]
    assert list(variations_of(())) == []


def test_every_variation_has_a_kind_that_users_are_told() -> None:
    """Else a fix that is not right on it ends the run with a KeyError."""
    for variation in (*plain_variations(), *variations_of(given()), *searches(), "dtype float64"):
        assert kind_of(variation) in LIMIT_KINDS, variation
    assert len(list(searches())) == SEARCHED


def test_all_sizes_can_grow_together() -> None:
    one, two = vary((torch.ones(2, 3), torch.ones(3)), "size of all by 1")
    assert (one.shape, two.shape) == ((3, 4), (4,))
