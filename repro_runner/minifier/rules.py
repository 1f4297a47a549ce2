"""A device's limit as a few lines of plain code, so that a script can carry the rule that fired."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from repro_runner.constraints import Constraint, GraphConstraint, TensorConstraint
from repro_runner.minifier import parts
from repro_runner.minifier.own_rules import RuleSource, own_rules


def render_rule(constraint: Constraint, op: str) -> Iterator[RuleSource]:
    """The ways to write down what this op broke, the best first; a later one is for when an earlier does not work."""
    # A class that inherits the text may check something else.
    text = constraint.script_text(op) if "script_text" in vars(type(constraint)) else None
    if text is None:
        yield from own_rules(constraint)
        return
    lines, needed = text.lines, text.parts
    if isinstance(constraint, TensorConstraint):
        # Which tensors of the op are looked at; that it is this op is said elsewhere.
        tensors = "tensors_of(node)"
        if (chosen := constraint.narrowing.arguments) is not None:
            tensors = f"arguments_of(node, {', '.join(map(repr, sorted(chosen, key=str)))})"
            needed = (*needed, "op_arguments")
        lines = (f"for tensor in {tensors}:", *_indented(lines))
    parameters = "graph, forward" if isinstance(constraint, GraphConstraint) else "node"
    body = _indented((f'"""{constraint.rule}: {text.summary}."""', *lines))
    yield RuleSource(
        text="\n".join([f"def complaints({parameters}):", *body]),
        parts=tuple(importlib.import_module(f"{parts.__name__}.{name}") for name in needed),
    )


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]
