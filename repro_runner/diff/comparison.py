"""Compare what two executions left, leaf by leaf."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.execution import Compiler, Execution, fresh_calls, unlike_strides
from repro_runner.diff.tensors import TensorComparison, comparable, compare_tensors
from repro_runner.model_under_test import Call, ModelUnderTest
from repro_runner.torch_seams import pytree
from repro_runner.values import Container, Flat, Path, flatten

_EXACT = ComparisonConfig(rtol=0, atol=0)
_OVERWRITTEN = "another call changes it: the backend uses the memory of what it returned again"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafComparison:
    """One tensor, number or other value of both sides, or a place where the sides have different things."""

    name: str
    """`output.logits[0]`, `model.fc.weight.grad`, `args[0]`."""
    part: str
    """`output`, `memory` or `strides` of one, `gradient`, or what the call wrote to: `input`, `state`."""
    passed: bool
    reason: str = ""
    comparison: TensorComparison | None = None
    """None if it is not about numbers."""
    only_nan: bool = False
    """Whether both sides are NaN throughout, so that nothing was compared."""

    def to_document(self) -> dict[str, Any]:
        comparison = None if self.comparison is None else self.comparison.to_document()
        described = {name: getattr(self, name) for name in ("name", "part", "passed", "reason", "only_nan")}
        return {**described, "comparison": comparison}


def compare_executions(
    before: Execution, reference: Execution, test: Execution, config: ComparisonConfig, exact: Execution | None = None
) -> list[LeafComparison]:
    """Compare what was returned, the gradients, and what either side wrote to since `before`. `exact` is what float64
    gives, if that is known."""
    exact = exact or Execution(output={}, inputs={}, state={}, gradients={})
    return [
        *compare_leaves(reference.output, test.output, "output", config, exact.output),
        *_compare_memory(reference, test),
        *(_compare_strides(reference, test) if config.check_strides else ()),
        *compare_leaves(reference.gradients, test.gradients, "gradient", config, exact.gradients),
        *compare_leaves(*_keep_written(before.inputs, reference.inputs, test.inputs), "input", config, exact.inputs),
        *compare_leaves(*_keep_written(before.state, reference.state, test.state), "state", config, exact.state),
    ]


def _compare_memory(reference: Execution, test: Execution) -> Iterator[LeafComparison]:
    """Outputs that share memory with what was given, or with each other, on one side only: a write to one would change
    the other."""
    both = [path for path, leaf in reference.output.items() if _are_alike(leaf, test.output.get(path))]
    for path in both:
        expected, found = (set(side.shared.get(path, ())) for side in (reference, test))
        if more := sorted(found - expected):
            reason = f"shares memory with {', '.join(more)}, and should not"
        elif fewer := sorted(expected - found):
            reason = f"should share memory with {', '.join(fewer)}, and does not"
        else:
            continue
        yield LeafComparison(name=f"memory of {''.join(path)}", part="memory", passed=False, reason=reason)


def _compare_strides(reference: Execution, test: Execution) -> Iterator[LeafComparison]:
    """Outputs of one shape that lie in memory in another way: what the program does with them next may fail."""
    for path, expected in reference.layouts.items():
        if reason := unlike_strides(expected, test.layouts.get(path)):
            yield LeafComparison(name=f"strides of {''.join(path)}", part="strides", passed=False, reason=reason)


def compare_leaves(
    reference: Flat, test: Flat, part: str, config: ComparisonConfig, exact: Flat | None = None
) -> Iterator[LeafComparison]:
    """Compare every tensor and number; of other values yield only those that differ. `exact` is what float64 gives."""
    apart: set[Path] = set()
    for path, expected in reference.items():
        if any(path[:length] in apart for length in range(1, len(path))):
            continue
        found: Any = test.get(path)
        name = "".join(path)
        if isinstance(expected, Container) or isinstance(found, Container):
            if expected != found:
                apart.add(path)
                reason = f"{_shown(found)} instead of {_shown(expected)}"
                yield LeafComparison(name=name, part=part, passed=False, reason=reason)
        elif _are_numbers(expected, found):
            compared = compare_tensors(expected, found, config, (exact or {}).get(path))
            passed, reason = compared.passed, compared.reason
            nan = passed and _is_only_nan(expected)
            yield LeafComparison(name=name, part=part, passed=passed, reason=reason, comparison=compared, only_nan=nan)
        elif not _are_equal(expected, found):
            reason = f"{_shown(found)} instead of {_shown(expected)}"
            yield LeafComparison(name=name, part=part, passed=False, reason=reason)


def _are_alike(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return False
    return one.is_nested == other.is_nested and (one.is_nested or one.shape == other.shape)


def _is_only_nan(value: Any) -> bool:
    if not isinstance(value, Tensor) or not (value.is_floating_point() or value.is_complex()) or not value.numel():
        return False
    return bool(comparable(value, value)[0].isnan().all())


def variation(first: Execution, again: Execution) -> dict[str, float]:
    """Name -> difference, for everything that differs between two executions of one side."""
    pairs = [(getattr(first, part), getattr(again, part)) for part in ("output", "gradients", "inputs", "state")]
    return {
        leaf.name: leaf.comparison.max_absolute_error if leaf.comparison else math.inf
        for one, other in pairs
        for leaf in compare_leaves(*_keep_written(one, one, other), "", _EXACT)
        if not leaf.passed
    }


def has_tensors(flat: Flat) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in flat.values())


def written(before: Flat, after: Flat) -> bool:
    """Whether a call changed anything."""
    return any(True for _ in _written_paths(before, after))


def _keep_written(before: Flat, reference: Flat, test: Flat) -> tuple[Flat, Flat]:
    """The values of both sides that at least one side changed."""
    changed = {*_written_paths(before, reference), *_written_paths(before, test)}
    return (
        {path: leaf for path, leaf in reference.items() if path in changed},
        {path: leaf for path, leaf in test.items() if path in changed},
    )


def _written_paths(before: Flat, after: Flat) -> Iterator[Path]:
    for path, leaf in after.items():
        was = before.get(path)
        if isinstance(leaf, Tensor) and isinstance(was, Tensor):
            # Most parameters are as they were, which this finds at once; NaN, sparse or nested tensors go the long way.
            plain = was.dtype == leaf.dtype and has_values(was) and has_values(leaf)
            if not (plain and torch.equal(was, leaf)) and not compare_tensors(was, leaf, _EXACT).passed:
                yield path
        elif not _are_equal(was, leaf):
            yield path


def has_values(tensor: Tensor) -> bool:
    """Whether it is dense, and not on the meta device."""
    return tensor.layout == torch.strided and not tensor.is_meta and not tensor.is_nested


def _are_numbers(one: Any, other: Any) -> bool:
    """Tensors, or numbers of one type; an integer of more than 64 bits is compared by equality."""
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return isinstance(one, Tensor) and isinstance(other, Tensor)
    if type(one) is not type(other):
        return False
    return isinstance(one, float | complex) or (type(one) is int and max(abs(one), abs(other)) < 2**63)


def _are_equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    try:
        return one is other or bool(one == other)
    except Exception:  # noqa: BLE001 - the user's own `==` may do anything
        return False


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):  # the sizes of a nested one can't be asked for
        return "a nested tensor" if value.is_nested else f"a tensor of shape {tuple(value.shape)}"
    text = str(value) if isinstance(value, Container) else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


# What another call changes of what one returned.


def compare_after_another_call(subject: ModelUnderTest, test: Compiler, reference: Compiler) -> list[LeafComparison]:
    """What another call changes of the outputs of the first, under the test alone."""
    changed = _changed_outputs(subject, test)
    own = _changed_outputs(subject, reference) if changed else []
    return [
        LeafComparison(name=f"{''.join(path)} after another call", part="memory", passed=False, reason=_OVERWRITTEN)
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
