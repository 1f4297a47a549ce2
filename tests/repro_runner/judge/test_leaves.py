"""Values as data: what is kept of one, and when two are the same."""

from __future__ import annotations

import functools
import io
import math
import pickle
from enum import Enum
from typing import Any

import numpy as np
import pytest
import torch

from repro_runner.judge.leaves import EXACT, Closeness, Room, described, leaf_of, leaves_differ, same_leaf, told
from repro_runner.judge.observation import Call, Observation, Plan, dump, load

pytestmark = pytest.mark.torch
NAN = float("nan")


def differ(expected: Any, actual: Any, closeness: Closeness = EXACT) -> str:
    return leaves_differ(leaf_of(expected, Room()), leaf_of(actual, Room()), "it", closeness)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN])),
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-7])),
        (torch.tensor([0.0]), torch.tensor([-0.0])),
        (torch.tensor([0.0]).double(), torch.tensor([1e-14]).double()),
        (torch.tensor([1.0, 1e-12]).double(), torch.tensor([1.0, 0.0]).double()),
        (torch.tensor(complex(NAN, 1)), torch.tensor(complex(NAN, 1))),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (NAN, NAN),
        (0.1 + 0.2, 0.3),
        (math.inf, math.inf),
        (np.array([1, 2]), np.array([1, 2])),
        (np.float64(1), np.float64(1)),
    ],
)
def test_these_are_the_same(one: Any, two: Any) -> None:
    assert differ(one, two) == ""


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([NAN, 1.0]), "not close"),
        (torch.tensor([1.0]), torch.tensor([1.001]), "not close"),
        (torch.tensor([math.inf]), torch.tensor([-math.inf]), "not close"),
        (torch.tensor([1]), torch.tensor([2]), "not equal"),
        (torch.zeros(2), torch.zeros(2).double(), "dtype torch.float64 instead of torch.float32"),
        (torch.zeros(2), torch.zeros(1, 2), "shape (1, 2) instead of (2,)"),
        (torch.zeros(2, 3), torch.zeros(3, 2).t(), "stride (1, 2) instead of (3, 1)"),
        (torch.zeros(2), torch.zeros(2, requires_grad=True), "requires_grad True instead of False"),
        (torch.zeros(2), torch.nn.Parameter(torch.zeros(2), requires_grad=False), "class Parameter instead of Tensor"),
        (torch.zeros(2), torch.zeros(2).to_sparse(), "layout torch.sparse_coo instead of torch.strided"),
        (torch.zeros(2), torch.zeros(2, device="meta"), "device meta instead of cpu"),
        (torch.zeros(1), 0.0, "0.0 instead of a tensor float32 [1]"),
        (1, True, "True instead of 1"),
        (1, 1.0, "1.0 instead of 1"),
        (1.0, math.inf, "inf instead of 1.0"),
        (NAN, 1.0, "1.0 instead of nan"),
        ("a", "b", "'b' instead of 'a'"),
        (torch.tensor([1e-12]).double(), torch.tensor([0.0]).double(), "not close"),
        (np.zeros(2), torch.zeros(2).double(), "dtype torch.float64 instead of numpy float64"),
        (np.zeros(2), np.zeros(2, dtype="f4"), "dtype numpy float32 instead of numpy float64"),
    ],
)
def test_these_differ(one: Any, two: Any, said: str) -> None:
    assert said in differ(one, two)


def test_a_fact_can_be_ignored_and_an_error_may_be_a_part_of_the_largest_number() -> None:
    across, along = torch.zeros(2, 3), torch.zeros(3, 2).t()
    assert differ(across, along, Closeness(ignored=frozenset({"stride"}))) == ""
    exact, rounded = torch.tensor([1e6, 0.0]), torch.tensor([1e6, 0.5])
    assert differ(exact, rounded)
    assert differ(exact, rounded, Closeness(by_size=1e-6)) == ""
    assert differ(torch.tensor([math.inf, 0.0]), torch.tensor([math.inf, 0.5]), Closeness(by_size=1e-6))


def test_nothing_changed_means_every_bit_but_for_nan() -> None:
    def same(one: Any, two: Any) -> bool:
        return same_leaf(leaf_of(one, Room()), leaf_of(two, Room()))

    assert same(torch.tensor([NAN]), torch.tensor([NAN]))
    assert same(NAN, NAN)
    assert not same(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert not same(torch.tensor([1.0]), torch.tensor([1.0 + 2e-7]))
    assert not same(1, True)


def test_what_a_tensor_that_lies_about_its_class_holds_is_what_its_memory_holds() -> None:
    class Agreeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, _types: Any, given: Any = (), named: Any = None) -> Any:
            return torch.ones(1)

    leaf = leaf_of(torch.zeros(1).as_subclass(Agreeing), Room())
    assert leaf["facts"]["class"].endswith("Agreeing")


def test_of_a_long_description_the_end_counts_and_addresses_do_not() -> None:
    assert described("x" * 300 + "a") != described("x" * 300 + "b")
    assert described("<f at 0x7f0011223344>") == described("<f at 0x7f9911223344>")


def test_a_large_tensor_is_kept_as_a_sample() -> None:
    room = Room()
    leaf = leaf_of(torch.arange(5 << 20, dtype=torch.float32), room)
    assert room.sampled == 1
    assert 4096 <= leaf["parts"][0].numel() < 2 * 4096
    assert "not close" in leaves_differ(leaf, leaf_of(torch.zeros(5 << 20), room), "it")


def test_members_of_enumerations_and_subclasses_of_plain_types_are_told_with_their_value() -> None:
    class Color(Enum):
        RED = 1
        BLUE = 2

    class Tag(str):
        __slots__ = ()

    assert differ(Color.RED, Color.BLUE)
    assert differ(Tag("a"), Tag("b"))
    assert differ(Tag("a"), "a")
    assert told(leaf_of(torch.zeros(2, 3), Room())) == "a tensor float32 [2, 3]"


def test_an_observation_comes_back_from_bytes_as_it_was() -> None:
    call = Call(plan=Plan(seed=3, variation="nan", gradients="leaves"), seen={"results": {"result": torch.ones(2)}})
    sent = Observation(calls=(call,), more={"breaks": 1}, failure="none")
    got = load(dump(sent))
    assert (got.calls[0].plan, got.more, got.failure) == (call.plan, {"breaks": 1}, "none")
    assert torch.equal(got.calls[0].seen["results"]["result"], torch.ones(2))
    assert got.call(Plan(seed=4)) is None
    assert call.plan.name == "seed 3, nan, leaves"


def test_an_observation_can_carry_no_code() -> None:
    file = io.BytesIO()
    torch.save({"calls": [], "more": {"evil": functools.partial(print, "code of the program was run")}}, file)
    with pytest.raises(pickle.UnpicklingError):
        load(file.getvalue())
