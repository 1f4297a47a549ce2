"""A device's limit as a few lines of plain code, so that a script can carry the rule that fired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from repro_runner.adapters import SupportedOpsConstraint
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    TensorConstraint,
    UnsupportedOpsConstraint,
)
from repro_runner.minifier.own_rules import RuleSource, own_rules
from repro_runner.minifier.parts import op_arguments, peak_memory


def render_rule(constraint: Constraint, op: str) -> Iterator[RuleSource]:
    """The ways to write down what this op broke, the best first; a later one is for when an earlier does not work."""
    kind = type(constraint)
    if kind in _ABOUT_TENSORS:
        assert isinstance(constraint, TensorConstraint)
        summary, body = _ABOUT_TENSORS[kind](constraint)
        tensors, parts = _tensors(constraint)
        lines = [f"for tensor in {tensors}:", *_indented(body)]
        yield RuleSource(text=_complaints("node", constraint, summary, lines), parts=parts)
    elif kind in (SupportedOpsConstraint, UnsupportedOpsConstraint):
        assert isinstance(constraint, SupportedOpsConstraint | UnsupportedOpsConstraint)
        packet = ".".join(op.split(".")[:2])
        named = packet if isinstance(constraint, UnsupportedOpsConstraint) and packet in constraint.ops else op
        test = f'str(node.target) == "{op}"' if named == op else f'str(node.target).startswith("{named}.")'
        lines = [f"if {test}:", '    yield "this device has no such op"']
        yield RuleSource(text=_complaints("node", constraint, f"the device has no {named}", lines))
    elif kind is PeakMemoryConstraint:
        assert isinstance(constraint, PeakMemoryConstraint)
        most = constraint.max_bytes
        lines = [
            f"if (needed := peak_bytes(graph, forward)) > {most}:",
            f'    yield f"needs {{needed}} bytes, more than {most}"',
        ]
        text = _complaints("graph, forward", constraint, f"no graph needs more than {most} bytes at once", lines)
        yield RuleSource(text=text, parts=(peak_memory,))
    else:
        yield from own_rules(constraint)


def _complaints(parameters: str, constraint: Constraint, summary: str, lines: list[str]) -> str:
    return "\n".join([f"def complaints({parameters}):", *_indented([f'"""{constraint.rule}: {summary}."""', *lines])])


def _tensors(constraint: TensorConstraint) -> tuple[str, tuple[ModuleType, ...]]:
    """Which tensors of the op are looked at. That it is this op is said elsewhere."""
    chosen = constraint.narrowing.arguments
    if chosen is None:
        return "tensors_of(node)", ()
    return f"arguments_of(node, {', '.join(map(repr, sorted(chosen, key=str)))})", (op_arguments,)


def _shape(constraint: ShapeConstraint) -> tuple[str, list[str]]:
    alignment = constraint.alignment
    if constraint.dims is None:
        which, dims = "every dimension", "range(tensor.dim())"
    else:
        which = f"dimension {' and '.join(map(str, constraint.dims))}"
        dims = f"[dim for dim in {constraint.dims} if -tensor.dim() <= dim < tensor.dim()]"
    return f"{which} is a multiple of {alignment}", [
        f"for dim in {dims}:",
        f"    if tensor.shape[dim] % {alignment}:",
        f'        yield f"{{shown(tensor)}}: dimension {{dim}} is not a multiple of {alignment}"',
    ]


def _dtype(constraint: DtypeConstraint) -> tuple[str, list[str]]:
    allowed = ", ".join(sorted(map(str, constraint.allowed_dtypes)))
    return f"only {allowed or 'none'}", [
        f"if tensor.dtype not in [{allowed}]:",
        f'    yield f"{{shown(tensor)}}: not one of {allowed or "none"}"',
    ]


def _memory(constraint: MemoryConstraint) -> tuple[str, list[str]]:
    most = constraint.max_bytes
    return f"no tensor takes more than {most} bytes", [
        "if tensor.layout != torch.strided:",
        "    continue  # how much a sparse tensor takes is not known yet",
        "# what `expand` repeats lies in memory once",
        "reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))",
        "taken = min(tensor.numel(), reach) * tensor.dtype.itemsize",
        f"if taken > {most}:",
        f'    yield f"{{shown(tensor)}} takes {{taken}} bytes, more than {most}"',
    ]


def _layout(constraint: LayoutConstraint) -> tuple[str, list[str]]:
    allowed = sorted(constraint.allowed)
    return f"only {', '.join(allowed)}", [
        f"allowed = {' or '.join(map(_layout_test, allowed)) or False}",
        "if not allowed:",
        "    strides = tensor.stride() if tensor.layout == torch.strided else tensor.layout",
        f'    yield f"{{shown(tensor)}} of strides {{strides}} is not {", ".join(allowed)}"',
    ]


def _layout_test(name: str) -> str:
    if name == "contiguous":
        return "tensor.layout == torch.strided and tensor.is_contiguous()"
    if isinstance(getattr(torch, name), torch.memory_format):
        return f"tensor.layout == torch.strided and tensor.is_contiguous(memory_format=torch.{name})"
    return f"tensor.layout == torch.{name}"


_ABOUT_TENSORS: dict[type[Constraint], Callable[[Any], tuple[str, list[str]]]] = {
    ShapeConstraint: _shape,
    DtypeConstraint: _dtype,
    MemoryConstraint: _memory,
    LayoutConstraint: _layout,
}


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
