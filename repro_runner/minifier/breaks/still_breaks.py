"""Does a repro in the making still break in the same way? Called by the scripts that try it, in a child."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from repro_runner.capture import capture_breaks
from repro_runner.minifier.parts import report
from repro_runner.torch_seams import pytree, reset
from repro_runner.values import Outcome, difference, keep

_SEEDS = range(1, 9)


def report_break(module: ModuleType, gb_id: str, *, strict: bool) -> int:
    """1 if it breaks in the same way, 0 if not. 3 if it can't run, or is no use as a repro: it returns no values or,
    with `strict`, has an input that makes no difference."""
    return report(lambda: _judge(module, gb_id, strict))


def _judge(module: ModuleType, gb_id: str, strict: bool) -> tuple[int, str]:
    returned = pytree.tree_leaves(_called(module.broken, _inputs(module, 0)))
    if not any(isinstance(value, torch.Tensor | bool | int | float | complex | str) for value in returned):
        return 3, "it returns no values"
    if strict and (idle := _idle_inputs(module)):
        return 3, f"these inputs make no difference: {idle}"
    for fullgraph in (False, True):
        compiled = torch.compile(module.broken, backend="eager", fullgraph=fullgraph)
        # A fatal break raises, and so may anything else.
        with capture_breaks() as breaks, contextlib.suppress(Exception):
            _called(compiled, _inputs(module, 0))
        if any(one.gb_id == gb_id and one.happened for one in breaks):
            return 1, gb_id
        reset()
    return 0, "it no longer breaks so"


def _idle_inputs(module: ModuleType) -> list[int]:
    """Positions of the inputs that can have other values without a change of what is returned."""
    expected = _outcome(module, 0)
    places = [place for place, each in enumerate(_inputs(module, 0)) if isinstance(each, torch.Tensor)]
    return [
        place
        for place in places
        if not any(difference(expected, _outcome(module, 0, {place: seed})) for seed in _SEEDS)
    ]


def _outcome(module: ModuleType, seed: int, others: dict[int, int] | None = None) -> Outcome:
    arguments = list(_inputs(module, seed))
    for place, other in (others or {}).items():
        arguments[place] = _inputs(module, other)[place]
    try:
        return Outcome(value=keep(_called(module.broken, tuple(arguments))), inputs=None)
    except Exception as error:  # noqa: BLE001 - that, too, is a difference
        return Outcome(value=None, inputs=None, error=error)


def _inputs(module: ModuleType, seed: int) -> tuple[Any, ...]:
    torch.manual_seed(seed)
    given: tuple[Any, ...] = module.inputs()
    return given


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    torch.manual_seed(1000)
    return function(*arguments)
