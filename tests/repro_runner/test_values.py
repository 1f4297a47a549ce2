"""Tolerances, a walk through values, and copies of tensors."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import pytest
import torch

from repro_runner.judge.leaves import Room, leaf_of, leaves_differ
from repro_runner.values import TOLERANCES, copies_of, tensors_in, tolerance_of

pytestmark = [pytest.mark.torch, pytest.mark.slow]


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_the_table_has_the_tolerances_of_torch_testing(dtype: torch.dtype) -> None:
    assert tolerance_of(dtype) == torch.testing._comparison.default_tolerances(dtype)
    assert all(loose >= own for loose, own in zip(tolerance_of(dtype, fused=True), tolerance_of(dtype), strict=True))


def test_every_tensor_in_a_value_is_found() -> None:
    tensors = [torch.full((1,), float(number)) for number in range(6)]
    value = ({"a": tensors[0]}, [Plain(tensors[1])], (tensors[2], deque([tensors[3]])), Plain(tensors[4]), tensors[5])
    assert [float(tensor) for tensor in tensors_in(value)] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


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
    one, two = (leaf_of(each, Room()) for each in (tensor, copied))
    assert not leaves_differ(one, two, "")  # which compares strides and requires_grad, too


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
