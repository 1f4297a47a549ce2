"""Everything that a program holds is found, at a path that says where."""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import io
import itertools
import random
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from repro_runner.judge.leaves import Room, told
from repro_runner.judge.state import Walk, shared_memory

pytestmark = pytest.mark.torch


def flat(value: Any) -> dict[str, Any]:
    walk = Walk(frozenset({__name__}), Room())
    walk.add(value, "it")
    return walk.flat


def told_of(value: Any) -> dict[str, str]:
    return {path: told(leaf) for path, leaf in flat(value).items()}


class Counter:
    total = 0

    def __init__(self) -> None:
        self.seen: list[int] = []

    def add(self) -> None: ...


class Slotted:
    __slots__ = ("left", "right")
    left: int


def closure() -> Callable[[], object]:
    history = {"losses": [1.0]}
    return lambda: history


def with_defaults(_seen: list[int] = [7], *, by: int = 2) -> None:  # noqa: B006
    """Its defaults are state."""


def attribute_of_a_function() -> Callable[[], None]:
    def counted() -> None: ...

    counted.calls = 3  # type: ignore[attr-defined]
    return counted


def generator() -> Iterator[int]:
    step = 5
    yield step
    yield step


def slotted() -> Slotted:
    made = Slotted()
    made.left = 4
    return made


def module_with_a_number() -> torch.nn.Module:
    layer = torch.nn.Linear(1, 1)
    layer.largest = 9.0  # type: ignore[assignment]
    return layer


def tagged() -> torch.Tensor:
    tensor = torch.ones(1)
    tensor.was_positive = True  # type: ignore[attr-defined]
    return tensor


def with_gradient() -> torch.Tensor:
    tensor = torch.ones(1, requires_grad=True)
    tensor.grad = torch.ones(1)
    return tensor


_kept = Counter()
_context = contextvars.ContextVar("level", default=3)


Stats = collections.namedtuple("Stats", "mean deviation")


@pytest.mark.parametrize(
    ("made", "path", "said"),
    [
        (Counter, "it.seen", "list of 0"),
        (lambda: Counter, "it.total", "0"),
        (slotted, "it.left", "4"),
        (closure, "it's variable history['losses'][0]", "1.0"),
        (lambda: with_defaults, "it's default argument 1[0]", "7"),
        (lambda: with_defaults, "it's default argument by", "2"),
        (attribute_of_a_function, "it.calls", "3"),
        (lambda: functools.partial(with_defaults, by=8), "it.keywords['by']", "8"),
        (lambda: _kept.add, "it.__self__.seen", "list of 0"),
        (module_with_a_number, "it.largest", "9.0"),
        (module_with_a_number, "it.weight", "a tensor float32 [1, 1]"),
        (lambda: torch.nn.BatchNorm1d(1), "it.running_mean", "a tensor float32 [1]"),
        (tagged, "it.was_positive", "True"),
        (with_gradient, "it.grad", "a tensor float32 [1]"),
        (lambda: {(1, 2): "x"}, "it's value 1", "'x'"),
        (lambda: collections.deque([6]), "it[0]", "6"),
        (lambda: weakref.ref(_kept), "it().seen", "list of 0"),
        (lambda: _context, "it", "ContextVar 'not set'"),
        (lambda: range(1, 4), "it", "range range(1, 4)"),
        (lambda: io.StringIO("log"), "it", "StringIO 'log'"),
        (lambda: array.array("i", [1]), "it", "array array('i', [1])"),
        (lambda: bytearray(b"ab"), "it", "bytearray bytearray(b'ab')"),
        (lambda: memoryview(b"ab"), "it", "memoryview b'ab'"),
        (lambda: np.array(["a"]), "it", "ndarray ['a']"),
        (lambda: np.datetime64("2020-01-02"), "it", "datetime64 datetime.date(2020, 1, 2)"),
        (lambda: ValueError("bad"), "it", "ValueError bad"),
        (lambda: torch.relu, "it", "the function relu"),
        (lambda: functools.wraps(with_defaults)(lambda: None), "it", "the function with_defaults"),
        (lambda: lambda: None, "it", "a function"),
        (lambda: Stats(1, 2), "it", "Stats of 2 mean deviation"),
    ],
)
def test_it_is_found(made: Callable[[], Any], path: str, said: str) -> None:
    assert told_of(made()).get(path) == said


def draw_from_python() -> tuple[Any, Callable[[], object]]:
    own = random.Random(0)
    return own, own.random


def draw_from_torch() -> tuple[Any, Callable[[], object]]:
    own = torch.Generator()
    return own, lambda: torch.rand(1, generator=own)


def draw_from_numpy() -> tuple[Any, Callable[[], object]]:
    own = np.random.default_rng(0)
    return own, own.random


def draw_from_old_numpy() -> tuple[Any, Callable[[], object]]:
    own = np.random.RandomState(0)
    return own, own.rand


def advance(made: Callable[[], Iterator[Any]]) -> Callable[[], tuple[Any, Callable[[], object]]]:
    def both() -> tuple[Any, Callable[[], object]]:
        one = made()
        return one, lambda: next(one)

    return both


def write_to_a_text() -> tuple[Any, Callable[[], object]]:
    text = io.StringIO()
    return text, lambda: text.write("one more line")


@pytest.mark.parametrize(
    "made",
    [
        draw_from_python,
        draw_from_torch,
        draw_from_numpy,
        draw_from_old_numpy,
        write_to_a_text,
        advance(generator),
        advance(lambda: iter([1, 2, 3])),
        advance(lambda: iter({1: 2})),
        advance(itertools.count),
        advance(lambda: map(abs, [1, 2])),
    ],
)
@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support:DeprecationWarning")
def test_what_was_advanced_is_another_one_and_to_look_does_not_advance_it(
    made: Callable[[], tuple[Any, Callable[[], object]]],
) -> None:
    value, advance_it = made()
    before = told_of(value)
    assert told_of(value) == before
    advance_it()
    assert told_of(value) != before


def test_an_object_that_is_met_again_is_the_same_as_at_its_first_place() -> None:
    shared = [1]
    assert flat([shared, shared])["it[1]"] == ("same", "it[0]")
    assert flat([[1], [1]])["it[1]"] != ("same", "it[0]")
    around: list[Any] = []
    around.append(around)
    assert flat(around)["it[0]"] == ("same", "it")
    assert flat([(1,), (1,)]) == flat([shared_tuple := (1,), shared_tuple])  # nobody can change it


def test_the_order_of_a_dictionary_and_the_kind_of_a_class_count() -> None:
    assert flat({"a": 1, "b": 2}) != flat({"b": 2, "a": 1})
    assert flat([1]) != flat((1,))
    assert flat({1, 2}) == flat({2, 1})


def test_every_element_of_a_long_list_counts() -> None:
    numbers = list(range(2000))
    assert flat(numbers) != flat([*numbers[:1500], 0, *numbers[1501:]])
    floats = [0.5] * 2000
    (leaf,) = (leaf for path, leaf in flat([*floats[:-1], 0.75]).items() if path != "it")
    assert (leaf["facts"]["dtype"], leaf["parts"][0][-1].item()) == ("torch.float32", 0.75)


def test_a_large_table_does_not_keep_what_is_added_after_it_from_being_walked() -> None:
    walk = Walk(frozenset(), Room())
    walk.add({str(at): at for at in range(60_000)}, "VOCABULARY")
    walk.add([torch.ones(2)], "result")
    assert walk.room.left_out > 0
    assert "result[0]" in walk.flat


def test_what_torch_keeps_for_itself_is_no_state_and_a_like_name_of_the_program_is() -> None:
    layer = torch.nn.Linear(1, 1)
    layer._dynamo_mark = 1  # type: ignore[assignment]
    layer._backward_calls = 1  # type: ignore[assignment]
    assert "it._dynamo_mark" not in flat(layer)
    assert "it._backward_calls" in flat(layer)


def test_functions_of_other_modules_are_not_walked_into() -> None:
    assert told_of(functools.wraps) == {"it": "the function wraps"}


def test_tensors_share_memory_if_they_lie_in_the_same_storage() -> None:
    walk = Walk(frozenset(), Room())
    base = torch.arange(6)
    for path, tensor in {"inputs[0]": base, "result[0]": base[3:], "result[1]": base.clone()}.items():
        walk.add(tensor, path)
    assert shared_memory(walk.memory) == ["result[0] and inputs[0]"]


def test_a_module_with_a_hook_says_so() -> None:
    layer, hooked = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    hooked.register_forward_hook(lambda *_: None)
    assert flat(layer).keys() != flat(hooked).keys()


def test_of_a_buffer_it_is_known_whether_it_is_saved() -> None:
    model = torch.nn.Module()
    model.register_buffer("kept", torch.ones(1))
    model.register_buffer("peak", torch.ones(1), persistent=False)
    found = flat(torch.nn.Sequential(model))
    assert [found[f"it.0.{name} in state_dict()"] for name in ("kept", "peak")] == [True, False]


def test_of_torchscript_the_buffers_and_parameters_are_seen() -> None:
    found = flat(torch.jit.script(torch.nn.Sequential(torch.nn.BatchNorm1d(2))))
    assert {"it.0.running_mean", "it.0.weight", "it.0.running_mean in state_dict()"} <= found.keys()


def test_what_a_triton_kernel_keeps_is_no_state() -> None:
    kernel = type("JITFunction", (), {"__module__": "triton.runtime.jit"})()
    kernel.device_caches = {0: ["compiled"]}
    assert flat(kernel).keys() == {"it"}


class Secretive(list[int]):
    def __len__(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize("value", [Secretive(), random.SystemRandom(), np.longdouble(1)])
def test_an_object_that_cannot_be_read_is_counted_and_what_stands_beside_it_is_compared(value: Any) -> None:
    walk = Walk(frozenset(), Room())
    walk.add([value, 1], "it")
    assert (walk.flat["it[1]"], walk.room.left_out) == (1, 1)
    assert "it[0], which can't be read" in walk.flat


@pytest.mark.parametrize("value", [torch.compile(torch.nn.Linear(1, 1)), torch.vmap(torch.sin), torch.nn.LazyLinear(1)])
def test_what_torch_wraps_and_what_has_no_shape_yet_is_read(value: Any) -> None:
    walk = Walk(frozenset(), Room())
    walk.add(value, "it")
    assert walk.room.left_out == 0
