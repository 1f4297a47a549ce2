"""From what was observed to what is reported: plain words, the user's names, equal reasons counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repro_runner.capture import CapturedBreak
from repro_runner.capture.naming import Named
from repro_runner.guards.advice import advise
from repro_runner.guards.changes import Change
from repro_runner.guards.kinds import KINDS, SAME_OBJECT, SHAPES, TENSOR, TensorFact
from repro_runner.guards.observing import Observation, SeenRecompile
from repro_runner.guards.reading import SeenGraph, SeenGuard
from repro_runner.guards.report import CompiledGraph, Guard, GuardReport, Recompile
from repro_runner.guards.shapes import ShapeGuard, shape_words, values_in

_STATE = "torch's global state"
_NAMES = "functions, classes and modules by name"
_DEFINITIONS = ("the code of ", "the type of ", "default ", "__defaults__")


def describe(
    observation: Observation,
    breaks: Iterable[CapturedBreak],
    *,
    subject: str = "",
    calls: Sequence[str] = (),
    failure: str = "",
) -> GuardReport:
    """The report of an observation, with advice that has not been tried yet."""
    return GuardReport(
        graphs=tuple(_describe_graph(graph) for graph in observation.graphs),
        breaks=tuple(one for one in breaks if one.happened),
        recompiles=tuple(_group_recompiles(observation)),
        subject=subject,
        calls=tuple(calls),
        failure=failure,
        compiled_in={name: call for name, call in observation.compiled_in.items() if call},
    )


def _describe_graph(graph: SeenGraph) -> CompiledGraph:
    guards = [_describe_guard(graph, guard) for guard in graph.guards]
    guards += [_describe_shape(graph, shape) for shape in graph.shapes]
    return CompiledGraph(
        name=str(graph.function),
        source=graph.function.source,
        compile_id=graph.compile_id,
        guards=tuple({(guard.words, guard.group): guard for guard in reversed(guards)}.values())[::-1],
    )


def _describe_guard(graph: SeenGraph, guard: SeenGuard) -> Guard:
    named = graph.named(guard)
    return Guard(
        kind=guard.kind,
        source=named.text if guard.expression else "",
        role=named.described(graph.function),
        words=_guard_words(graph, guard, named),
        user_line=guard.user_line,
        code=guard.code,
        group=_group(guard, named),
    )


def _guard_words(graph: SeenGraph, guard: SeenGuard, named: Named) -> str:
    """The guard in words; its code, if the kind is not known or the value could not be read."""
    kind = KINDS.get(guard.kind)
    fact = guard.fact.words if guard.fact is not None else ""
    if kind is None or ("{fact}" in kind.words and not fact):
        return guard.code or f"{guard.kind} on {named.text}"
    other = graph.named_expression(guard.other.name).text if guard.kind == SAME_OBJECT else ""
    return kind.words.format(name=named.text, fact=fact, other=other)


def _group(guard: SeenGuard, named: Named) -> str:
    """The group in which the guard is only counted; empty if it gets a line of its own."""
    kind = KINDS.get(guard.kind)
    aspect = kind.aspect if kind else ""
    if aspect == "state":
        return _STATE
    if named.role in ("import", "builtin") or (named.role == "global" and aspect in ("identity", "type", "aliasing")):
        return _NAMES
    if any(each in named.text for each in _DEFINITIONS) or (named.role == "closure" and aspect == "identity"):
        return _NAMES
    if named.role in ("parameter", "buffer") and guard.kind == TENSOR:
        return f"parameters and buffers of {_top_level(named.owner)}"
    if guard.in_builtin_module or (guard.in_module and (aspect not in ("value", "tensor") or "." in named.owner)):
        return f"the inside of {_top_level(named.owner if aspect == 'value' else named.text)}"
    return ""


def _top_level(name: str) -> str:
    """`self.layers` of `self.layers[0].weight`."""
    first, dot, rest = name.partition(".")
    member = rest.partition(".")[0].partition("[")[0]
    return first if not member or member.startswith("_") else f"{first}{dot}{member}"


def _describe_shape(graph: SeenGraph, shape: ShapeGuard) -> Guard:
    symbols = {
        f"{guard.expression}.size()[{d}]": symbol
        for guard in graph.guards
        if isinstance(guard.fact, TensorFact)
        for d, symbol in enumerate(guard.fact.symbols)
        if symbol
    }

    def name(expression: str) -> str:
        symbol = symbols.get(expression)
        return f"{graph.named_expression(expression).text}{f' ({symbol})' if symbol else ''}"

    about = [graph.named_expression(each) for each in values_in(shape.expression)]
    return Guard(
        kind=SHAPES,
        source=", ".join(dict.fromkeys(each.text.partition(" of ")[2] or each.text for each in about)),
        role=about[0].described(graph.function) if about else "",
        words=shape_words(shape.expression, name),
        user_line=graph.line_of(shape),
        code=shape.expression,
    )


def _group_recompiles(observation: Observation) -> list[Recompile]:
    """One per function and reason, whatever the values were."""
    same_reason: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[SeenRecompile]] = {}
    for event in observation.recompiles:
        reason = tuple((change.aspect, change.source) for change in event.changes)
        same_reason.setdefault((str(event.function), event.function.source, reason), []).append(event)
    return [_describe_recompile(events, observation.graphs) for events in same_reason.values()]


def _describe_recompile(events: Sequence[SeenRecompile], graphs: Sequence[SeenGraph]) -> Recompile:
    first, last = events[0], events[-1]
    result = [graph for graph in graphs if graph.compile_id == last.compile_id and graph.function == last.function]
    return Recompile(
        function=str(first.function),
        source=first.function.source,
        changes=first.changes,
        seen=tuple("; ".join(change.words for change in event.changes) for event in events),
        compile_ids=tuple(event.compile_id for event in events),
        reason=first.reasons[0] if first.reasons else "",
        generalised=bool(result) and all(_is_free(change, result[-1]) for change in last.changes),
        limit=next((event.limit for event in events if event.limit), ""),
        advice=advise(first.changes, function=first.function.name),
    )


def _is_free(change: Change, graph: SeenGraph) -> bool:
    """Whether the graph accepts any size or number for the value that changed."""
    guards = [guard for guard in graph.guards if guard.expression == change.expression]
    if change.aspect == "size" and change.dimension is not None:
        tensors = [guard.fact for guard in guards if isinstance(guard.fact, TensorFact)]
        return any(fact.symbols[change.dimension] != "" for fact in tensors)
    fixed = [shape for shape in graph.shapes if shape.expression.startswith(f"{change.expression} ==")]
    return change.aspect == "value" and not guards and not fixed
