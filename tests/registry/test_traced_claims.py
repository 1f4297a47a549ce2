"""Advice that says which release traces something: each such text has code here that this release traces whole."""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from registry.knowledge import read_package

pytestmark = [pytest.mark.torch, pytest.mark.slow]

SAYS = re.compile(r"(?i)torch (2\.\d+) traces [^.]*(?:\.\w[^.]*)*\.")
ELSEWHERE = {"Torch 2.15 traces `closing`."}
"""Of releases that are not installed here."""


def in_device(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.relu(x) + torch.zeros(4)


def environ(x: torch.Tensor) -> torch.Tensor:
    return x + len(os.environ["PATH"])


def uniform(x: torch.Tensor) -> torch.Tensor:
    return x * random.uniform(0, 1)


def regular(x: torch.Tensor) -> torch.Tensor:
    return x + len(re.sub("a", "b", "abc"))


layer = torch.nn.Linear(4, 4)


def zero_grad(x: torch.Tensor) -> torch.Tensor:
    layer.zero_grad()
    for p in layer.parameters():
        p.grad = None
    return torch.nn.functional.linear(x, layer.weight)


def matched(x: torch.Tensor) -> torch.Tensor:
    match (x.dim(), {"a": 2}):
        case (1, {"a": number}):
            return x + number
        case _:
            return x


def indices(x: torch.Tensor) -> torch.Tensor:
    return x + sum(slice(1, 5, 2).indices(4))


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.set_materialize_grads(False)
        return x / 2

    @staticmethod
    def backward(_ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad / 2


def materialize(x: torch.Tensor) -> torch.Tensor:
    return Halved.apply(x)  # type: ignore[no-any-return, no-untyped-call]


def suppress(x: torch.Tensor) -> torch.Tensor:
    with contextlib.suppress(KeyError):
        raise KeyError
    return x + 1


@contextlib.contextmanager
def own() -> Iterator[int]:
    yield 3


def stack(x: torch.Tensor) -> torch.Tensor:
    with contextlib.ExitStack() as undo:
        return x + undo.enter_context(own())


CLAIMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "Torch 2.13 traces torch's own functions inside of `torch.device`.": in_device,
    "torch 2.13 traces that.": environ,
    "torch 2.13 traces that, but not `random.random()`.": uniform,
    "Torch 2.13 traces it when all strings are constants.": regular,
    "torch 2.13 traces both.": zero_grad,
    "Torch 2.13 traces `match`.": matched,
    "Torch 2.13 traces `slice.indices`.": indices,
    "Torch 2.13 traces `ctx.set_materialize_grads`.": materialize,
    "Torch 2.13 traces `suppress` when it is made inside.": suppress,
    "Torch 2.13 traces an `ExitStack` that is made inside if it holds context managers of your own, but not "
    "torch's.": stack,
}


def test_every_text_that_names_a_release_that_traces_something_has_its_code_here() -> None:
    texts = [one.text for fits in read_package().fits.values() for one in fits.counsels]
    assert {found[0] for text in texts for found in SAYS.finditer(text)} == CLAIMS.keys() | ELSEWHERE


@pytest.mark.parametrize("claim", CLAIMS)
def test_this_release_traces_it(claim: str) -> None:
    torch._dynamo.reset()
    with torch.device("cpu") if CLAIMS[claim] is in_device else contextlib.nullcontext():
        torch.compile(CLAIMS[claim], backend="eager", fullgraph=True)(torch.ones(4, requires_grad=True))


@pytest.mark.parametrize("made", [torch.no_grad, lambda: torch.autocast("cpu")])
def test_what_is_said_not_to_be_traced_breaks(made: Callable[[], Any]) -> None:
    def stacked(x: torch.Tensor) -> torch.Tensor:
        with contextlib.ExitStack() as undo:
            undo.enter_context(made())
            return x + 1

    torch._dynamo.reset()
    for breaks in (stacked, lambda x: x * random.random()):
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(breaks, backend="eager", fullgraph=True)(torch.ones(4))
