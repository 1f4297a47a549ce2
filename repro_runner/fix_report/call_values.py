"""Values that two runs of a program returned, as plain tensors and text: kept within limits, written, compared."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from repro_runner.runner.compare import Outcome, difference

_WHOLE = 16 << 20
"""Bytes up to which a tensor is kept whole."""
_ALL = 256 << 20
"""Bytes that all kept tensors may have together."""
_SAMPLE = 4096
"""Elements of a tensor that is too large, evenly spread."""

_LOOSE = {
    torch.float16: (4e-3, 1e-3),
    torch.bfloat16: (3.2e-2, 1e-2),
    torch.float32: (1.3e-5, 1e-4),
    torch.float64: (1e-6, 1e-6),
    torch.complex64: (1.3e-5, 1e-4),
    torch.complex128: (1e-6, 1e-6),
}
"""(relative, absolute): what fusing other ops together may change, where the backend generates code."""

EXACT_BACKENDS = frozenset({"eager", "aot_eager", "eager_noexcept"})
"""They run torch's own kernels, however the graph is cut."""

_NO_RECORDS = (type, types.ModuleType, types.FunctionType, torch.nn.Module)
"""Their attributes are not what a call returns."""


@dataclasses.dataclass(slots=True)
class Keeper:
    """Copies values, and takes samples where they are too large."""

    left: int = _ALL
    sampled: int = 0
    """Tensors of which only a sample is kept."""

    def flat(self, result: Any, written: Mapping[str, torch.Tensor] | None = None) -> dict[str, Any]:
        """Every tensor and every other value of a result by its path, containers by their class and size; then the
        tensors that the call has written into."""
        found: dict[str, Any] = {}
        self._descend(result, "result", found, ())
        for name, tensor in (written or {}).items():
            found[f"{name} after the call"] = self._kept(tensor)
        return found

    def _descend(self, value: Any, path: str, found: dict[str, Any], within: tuple[int, ...]) -> None:
        if isinstance(value, torch.Tensor):
            found[path] = self._kept(value)
            return
        if type(value) in (bool, int, float, complex, str, type(None)):
            found[path] = value
            return
        children = _children(value)
        if children is None or id(value) in within:
            found[path] = f"a {type(value).__qualname__}"  # two processes have no better word for it in common
            return
        found[path] = f"{type(value).__qualname__} of {len(children)}"
        for name, child in children:
            self._descend(child, f"{path}{name}", found, (*within, id(value)))

    def _kept(self, tensor: torch.Tensor) -> Any:
        requires_grad, tensor = tensor.requires_grad, tensor.detach()
        if type(tensor) is not torch.Tensor or tensor.layout is not torch.strided or tensor.is_meta:
            return f"a {type(tensor).__qualname__} {tensor.dtype} {tuple(tensor.shape)}"
        size = tensor.numel() * tensor.element_size()
        facts = [str(tensor.dtype), list(tensor.shape), list(tensor.stride()), str(tensor.device), requires_grad]
        if size > min(_WHOLE, self.left):
            self.sampled += 1
            step = max(1, tensor.numel() // _SAMPLE)
            tensor = tensor.flatten()[::step]
        else:
            self.left -= size
        return {"tensor": tensor.to("cpu", copy=True).contiguous(), "facts": facts}


def _children(value: Any) -> list[tuple[str, Any]] | None:
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", each) for key, each in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", each) for name, each in zip(value._fields, value, strict=True)]
    if isinstance(value, list | tuple):
        return [(f"[{index}]", each) for index, each in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{each.name}", getattr(value, each.name, None)) for each in dataclasses.fields(value)]
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "") in "biufc":
        return [("", torch.as_tensor(value))]
    if isinstance(value, set | frozenset) and all(isinstance(each, str | int) for each in value):
        return [(f"[{index}]", each) for index, each in enumerate(sorted(value, key=repr))]
    if isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, _NO_RECORDS):
        return [(f".{name}", each) for name, each in vars(value).items()]
    return None


def write_calls(path: Path, calls: Sequence[dict[str, Any]]) -> None:
    """As a file that can be read without running anything in it."""
    torch.save(list(calls), path)


def read_calls(path: Path) -> list[dict[str, Any]]:
    """What was written there."""
    calls: list[dict[str, Any]] = torch.load(path, weights_only=True)
    return calls


def find_differences(
    expected: Sequence[dict[str, Any]], actual: Sequence[dict[str, Any]], *, exact: bool
) -> dict[str, str]:
    """By call and path, the differences of two runs in words, in order; nothing where there is none."""
    if len(expected) != len(actual):
        return {"calls": f"{len(actual)} calls of compiled code instead of {len(expected)}"}
    pairs = enumerate(zip(expected, actual, strict=True), 1)
    return {
        f"call {number}: {path}": f"call {number}: {told}"
        for number, (one, two) in pairs
        for path in dict.fromkeys((*one, *two))
        if (told := _values_differ(path, one, two, exact=exact))
    }


def count_values(calls: Sequence[dict[str, Any]]) -> int:
    """How many tensors and numbers there are to be compared."""
    return sum(isinstance(leaf, dict | int | float | complex) for call in calls for leaf in call.values())


def strictness(*, exact: bool) -> str:
    """How outputs are compared, in words."""
    kind = "torch.testing.assert_close's own" if exact else "ten times torch.testing.assert_close's"
    return f"types, shapes, strides and dtypes the same; floating-point values within {kind} tolerances"


def _values_differ(path: str, expected: dict[str, Any], actual: dict[str, Any], *, exact: bool) -> str:
    if path in expected and path in actual:
        return _leaves_differ(path, expected[path], actual[path], exact=exact)
    one, two = (_told(calls[path]) if path in calls else "nothing" for calls in (expected, actual))
    return f"{path}: {two} instead of {one}"


def _told(leaf: Any) -> str:
    return f"a tensor {leaf['facts'][0]} {leaf['facts'][1]}" if isinstance(leaf, dict) else f"{leaf!r:.80}"


def _leaves_differ(where: str, expected: Any, actual: Any, *, exact: bool) -> str:
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        found = difference(Outcome(expected, None), Outcome(actual, None))
        return f"{where}{found.removeprefix('result')}" if found else ""
    names = ("dtype", "shape", "stride", "device", "requires_grad")
    for name, one, two in zip(names, expected["facts"], actual["facts"], strict=True):
        if one != two:
            return f"{where}: {name} {two} instead of {one}"
    found = difference(Outcome(expected["tensor"], None), Outcome(actual["tensor"], None))
    if found and not exact and _loosely_equal(expected["tensor"], actual["tensor"]):
        return ""
    return f"{where}{found.removeprefix('result')}" if found else ""


def _loosely_equal(expected: torch.Tensor, actual: torch.Tensor) -> bool:
    relative, absolute = _LOOSE.get(expected.dtype, (0.0, 0.0))
    return torch.allclose(actual, expected, rtol=relative, atol=absolute, equal_nan=True)
