"""Does a repro in the making still break in the same way? Called by the scripts that try it, in a child."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

import torch

from repro_runner.capture import capture_breaks
from repro_runner.judge import RESULT
from repro_runner.judge.comparing import Terms, flats_differ
from repro_runner.judge.leaves import Flat, described
from repro_runner.judge.state import flat_of
from repro_runner.minifier.parts import report
from repro_runner.torch_seams import pytree, reset

_SEEDS = range(1, 9)

INPUTS_MATTER, RETURNS, ENDS = "its inputs matter", "it returns values", "it ends"
"""What a program may have to do besides breaking, the most first. ENDS is for one that returns nothing or raises."""


def report_break(
    module: ModuleType, gb_ids: Collection[str], *, demand: str, fullgraph: Collection[bool] = (False, True)
) -> int:
    """1 if all these breaks happen, with one of these values of fullgraph; 0 if not. 3 if it does not meet the demand:
    it can't run, returns no values, or has an input that makes no difference. An error that it ends with is printed."""
    return report(lambda: _judge(module, set(gb_ids), demand, fullgraph))


def _judge(module: ModuleType, gb_ids: set[str], demand: str, fullgraph: Collection[bool]) -> tuple[int, str]:
    said = ", ".join(sorted(gb_ids))
    try:
        returned = pytree.tree_leaves(_called(module.broken, _inputs(module, 0)))
        is_value = any(isinstance(each, bool | int | float | complex | str) or _is_array(each) for each in returned)
    except Exception as error:
        if demand != ENDS:
            raise
        said += f", {type(error).__name__}: {error}".splitlines()[0]
    else:
        if demand != ENDS and not is_value:
            return 3, "it returns no values"
    if demand == INPUTS_MATTER and (idle := _idle_inputs(module)):
        return 3, f"these inputs make no difference: {idle}"
    for whole in fullgraph:
        compiled = torch.compile(module.broken, backend="eager", fullgraph=whole)
        # A fatal break raises, and so may anything else.
        with capture_breaks(errors=True) as breaks, contextlib.suppress(Exception):
            _called(compiled, _inputs(module, 0))
        if gb_ids <= {one.gb_id for one in breaks if one.happened}:
            return 1, said
        reset()
    return 0, "it no longer breaks so"


def _is_array(value: object) -> bool:
    return hasattr(value, "__array__")  # tensors and what numpy has


def _idle_inputs(module: ModuleType) -> list[int]:
    """Positions of the inputs that can have other values without a change of what is returned."""
    expected = _outcome(module, 0)
    places = [place for place, each in enumerate(_inputs(module, 0)) if isinstance(each, torch.Tensor)]
    return [
        place
        for place in places
        if not any(flats_differ(RESULT, expected, _outcome(module, 0, {place: seed}), Terms()) for seed in _SEEDS)
    ]


def _outcome(module: ModuleType, seed: int, others: dict[int, int] | None = None) -> Flat:
    arguments = list(_inputs(module, seed))
    for place, other in (others or {}).items():
        arguments[place] = _inputs(module, other)[place]
    try:
        return flat_of(_called(module.broken, tuple(arguments)), module.__name__)
    except Exception as error:  # noqa: BLE001 - that, too, is a difference
        return {"raised": described(type(error).__name__)}


def _inputs(module: ModuleType, seed: int) -> tuple[Any, ...]:
    torch.manual_seed(seed)
    given: tuple[Any, ...] = module.inputs()
    return given


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    torch.manual_seed(1000)
    return function(*arguments)
