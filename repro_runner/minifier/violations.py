"""Find a limit that a graph of the model breaks, and make the check of it for a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.errors import InvalidInput, Problem
from repro_runner.constraints import Constraint, GraphConstraint, TensorConstraint, Violation, find_violations
from repro_runner.minifier.own_rules import RuleSource, own_rules
from repro_runner.minifier.parts import early_tracing, tracing, violations
from repro_runner.minifier.recording import RecordedGraph, Recording
from repro_runner.minifier.result import Failure
from repro_runner.minifier.script import Check, Part

_NOT_OPS = ("placeholder", "get_attr", "output")
_TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "none": ("", ()),
    "core-aten": ("torch.export.default_decompositions().materialize()", ("torch.export",)),
    "inductor": ("torch._inductor.decomposition.select_decomp_table()", ("torch._inductor.decomposition",)),
}
"""Name of a table of decompositions -> how a script writes it, and what it imports for that."""


def find_violation(
    recording: Recording, constraints: Sequence[Constraint], rule: str | None
) -> tuple[RecordedGraph, Failure, Constraint] | None:
    """The first violation by an op that a backend sees; if there is none, one by an input or before AOTAutograd."""
    if rule is not None and rule not in {each.rule for each in constraints}:
        there = ", ".join(sorted({each.rule for each in constraints})) or "none"
        raise InvalidInput([Problem(f"rule {rule}", f"no such rule; there are {there}")])
    found = [
        (recorded, each, constraint)
        for recorded in recording.graphs
        for constraint in constraints
        if rule in (None, constraint.rule)
        for each in all_violations(recorded, constraint)
    ]
    chosen = min(found, key=lambda each: preference(each[1]), default=None)
    return None if chosen is None else (chosen[0], failure_of(chosen[1]), chosen[2])


def preference(violation: Violation) -> tuple[bool, bool]:
    """Its place in the order of those that are worth a script; ops that a backend sees are first."""
    return violation.graph == "pre-aot", violation.op in _NOT_OPS


def all_violations(recorded: RecordedGraph, constraint: Constraint) -> Sequence[Violation]:
    """The violations of this limit in the graph, as Dynamo and as AOTAutograd have it."""
    traced = recorded.traced
    return find_violations([constraint], traced.forward, traced.backward, pre_aot=traced.pre_aot)


def violation_checks(failure: Failure, constraint: Constraint, decompositions: str = "none") -> Iterator[Check]:
    """The ways to check it in a script, the best first. `decompositions` is the name of a table of them, which the
    script applies before it looks for the op."""
    table, imports = _TABLES[decompositions]
    # In a graph, a higher-order op is known by its last name.
    op = failure.op.removeprefix("higher_order.")
    graph = f'graph="{failure.graph}"'
    lowered = f", decompositions={table}" if table and failure.graph != "pre-aot" else ""
    part: Part
    if isinstance(constraint, GraphConstraint):
        part, call = violations.check_graph_violation, f"check_graph_violation(f, inputs, complaints, {graph}{lowered})"
    elif op == "placeholder":
        part, call = violations.check_input_violation, f"check_input_violation(f, inputs, complaints, {graph}{lowered})"
    else:
        part, call = violations.check_violation, f'check_violation(f, inputs, complaints, {graph}, op="{op}"{lowered})'
    for source in render_rule(constraint, op):
        parts = (early_tracing if failure.graph == "pre-aot" else tracing, *source.parts, part)
        yield Check(
            parts=parts,
            call=call,
            code=(source.text,),
            before=source.before,
            modules=source.modules,
            imports=imports if lowered else (),
        )


def failure_of(found: Violation) -> Failure:
    """The violation as a failure of the model."""
    return Failure(
        kind="violation", summary=str(found), rule=found.rule, op=found.op, graph=found.graph, source=found.source
    )


def render_rule(constraint: Constraint, op: str) -> Iterator[RuleSource]:
    """The ways to write the limit that this op broke as a few lines of plain code, the best first. Use the next one
    if one does not work."""
    # A class that inherits the text may check something else.
    text = constraint.script_text(op) if "script_text" in vars(type(constraint)) else None
    if text is None:
        yield from own_rules(constraint)
        return
    lines, needed = text.lines, text.parts
    if isinstance(constraint, TensorConstraint):
        # Which tensors of the op are checked; the op itself is checked elsewhere.
        tensors = "tensors_of(node)"
        if (chosen := constraint.narrowing.arguments) is not None:
            tensors = f"arguments_of(node, {', '.join(map(repr, sorted(chosen, key=str)))})"
            needed = (*needed, "arguments_of")
        lines = (f"for tensor in {tensors}:", *_indented(lines))
    parameters = "graph, forward" if isinstance(constraint, GraphConstraint) else "node"
    body = _indented((f'"""{constraint.rule}: {text.summary}."""', *lines))
    yield RuleSource(
        text="\n".join([f"def complaints({parameters}):", *body]),
        parts=tuple(getattr(violations, name) for name in needed),
    )


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]
