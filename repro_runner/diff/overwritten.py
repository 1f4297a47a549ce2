"""Outputs that the next call changes: a backend returned memory that it uses again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.comparison import LeafComparison, has_values
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.execution import Compiler, fresh_calls
from repro_runner.diff.tensors import compare_tensors
from repro_runner.model_under_test import Call, ModelUnderTest
from repro_runner.torch_seams import pytree
from repro_runner.values import Path, flatten

_EXACT = ComparisonConfig(rtol=0, atol=0, equal_nan=True)
_REASON = "another call changes it: the backend uses the memory of what it returned again"


def compare_after_another_call(subject: ModelUnderTest, test: Compiler, reference: Compiler) -> list[LeafComparison]:
    """What another call changes of the outputs of the first, under the test alone."""
    changed = _changed_outputs(subject, test)
    own = _changed_outputs(subject, reference) if changed else []
    return [
        LeafComparison(name=f"{''.join(path)} after another call", part="memory", passed=False, reason=_REASON)
        for path in changed
        if path not in own
    ]


def _changed_outputs(subject: ModelUnderTest, compiler: Compiler) -> list[Path]:
    called, (first, *others) = compiler(subject.fresh_model()), _calls(subject)
    torch.manual_seed(subject.seed)
    try:
        returned = flatten(first.make(called), "output")
        tensors = {path: leaf for path, leaf in returned.items() if isinstance(leaf, Tensor) and has_values(leaf)}
        before = {path: leaf.clone() for path, leaf in tensors.items()}
        for call in others:
            call.make(called)
        return [path for path, leaf in tensors.items() if not compare_tensors(before[path], leaf, _EXACT).passed]
    except Exception:  # noqa: BLE001 - a call with other values may fail; CUDA graphs refuse to show what is overwritten
        return []


def _calls(subject: ModelUnderTest) -> Sequence[Call]:
    """The user's, or the inputs, and then other values of the same shapes."""
    calls = list(fresh_calls(subject).values())
    return calls if len(calls) > 1 else [*calls, *map(_with_other_values, fresh_calls(subject).values())]


def _with_other_values(call: Call) -> Call:
    """The same numbers in another order, so that indices stay valid and what is positive stays so."""
    args, kwargs = pytree.tree_map(_rolled, (call.args, dict(call.kwargs)))
    return replace(call, args=args, kwargs=kwargs)


def _rolled(value: Any) -> Any:
    if not isinstance(value, Tensor) or not has_values(value):
        return value
    with torch.no_grad(), contextlib.suppress(RuntimeError):  # several elements may share one place
        rolled = value.roll(1)
        value.copy_(value * 0.5 if value.is_floating_point() and torch.equal(rolled, value) else rolled)
    return value
