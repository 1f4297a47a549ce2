"""What changed since a graph was compiled: the value that it was compiled for, and the value now, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from repro_runner.capture.naming import CompiledFunction, Named, name_value
from repro_runner.guards.kinds import (
    GLOBAL_STATE,
    KINDS,
    SAME_OBJECT,
    TENSOR,
    Fact,
    TensorFact,
    current_state,
    described,
    read_tensor,
    state_differences,
)
from repro_runner.guards.reading import SeenGraph, SeenGuard
from repro_runner.guards.shapes import ShapeGuard, fixed_number, is_lower_bound, shape_words, values_in

_VERBS = {"length": "had", "keys": "had", "membership": "had", "attribute": "had", "aliasing": "were"}
_MISMATCH = re.compile(
    r"tensor '(?P<name>.+)' (?P<what>size|stride) mismatch at index (?P<at>\d+)\. "
    r"expected (?P<was>\d+), actual (?P<now>\d+)"
)
_FREED = re.compile(r"because (?P<name>.+) got deallocated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that is not what it was when the graph was compiled."""

    aspect: str
    """Of a tensor: size, rank, dtype, device, layout, requires_grad, tensor class, inference, dispatch, marks. Of other
    values: value, type, length, keys, identity, attribute, membership, presence; of two: aliasing. Of sizes: relation,
    specialised, bound, assumed. Of the process: state. Else: backend, freed, other."""
    source: str
    """The user's name for the value; for a relation between several values, all of their names."""
    was: str
    now: str
    words: str
    user_line: str = ""
    role: str = ""
    dimension: int | None = None
    expression: str = ""
    """The expression by which torch reaches the value."""

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self.source.split(", "))


def make_change(
    aspect: str,
    named: Named,
    was: str,
    now: str,
    *,
    user_line: str = "",
    expression: str = "",
    name: str = "",
    dimension: int | None = None,
) -> Change:
    """A Change with its words. If `named` is a part of a value (a dimension, its dtype), `name` is the value itself."""
    return Change(
        aspect=aspect,
        source=name or named.text,
        was=was,
        now=now,
        words=f"{named.text} {_VERBS.get(aspect, 'was')} {was}, now {now}",
        user_line=user_line,
        role=named.role,
        dimension=dimension,
        expression=expression,
    )


def change_from_reason(reason: str, function: CompiledFunction) -> Change:
    """From torch's own reason: nothing else is known of a graph that was compiled before the inspection began."""
    text = reason.partition("\nUser stack trace")[0].partition(": ")[2] or reason
    text = re.split(r"\s+# ", text)[0].strip()
    if found := _MISMATCH.search(text):
        part = "dimension" if found["what"] == "size" else "stride"
        named = Named(text=f"{part} {found['at']} of {found['name']}", role="argument")
        aspect = "size" if found["what"] == "size" else "layout"
        return make_change(aspect, named, found["was"], found["now"], name=found["name"], dimension=int(found["at"]))
    if found := _FREED.search(text):
        return make_change("freed", name_value(found["name"], function), "in use", "freed")
    if text.startswith("BACKEND_MATCH"):
        return make_change("backend", Named(text="the backend", role=""), "another object", "this one")
    return Change(aspect="other", source="", was="", now="", words=text)


_CONTAINERS = ("type", "length", "keys", "identity", "tensor class", "rank", "presence")
"""A change of one of these explains every change inside of the value."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A frame about to be compiled again, and the names that torch's guards use in it."""

    frame_locals: Mapping[str, Any]
    frame_globals: Mapping[str, Any]
    names: Mapping[str, Any]

    def value(self, source: Any) -> Any:
        """The value of a source in this frame. Raises whatever the user's properties on the way to it raise."""
        scope = {"L": self.frame_locals, "G": self.frame_globals}
        return source.get_value(scope, dict(self.names), {})

    def evaluated(self, expression: str) -> Any:
        """The value of an expression that torch wrote: a guard on sizes, or a part of one."""
        return eval(expression, {**self.names, "L": self.frame_locals, "G": self.frame_globals})


_GONE = object()


def find_changes(graph: SeenGraph, scope: Scope) -> tuple[Change, ...]:
    """What changed, for every guard of the graph that fails here; empty if no guard that can be read fails."""
    values = [(guard, _value_of(guard, scope)) for guard in graph.guards]
    found = [change for guard, value in values for change in _find_guard_changes(graph, guard, value, scope)]
    found += _aliased_pairs(graph, values)
    found += _failed_relations(graph, scope)
    distinct = {(change.source, change.aspect, change.dimension): change for change in reversed(found)}
    return tuple(reversed(_outermost(distinct.values())))


def _value_of(guard: SeenGuard, scope: Scope) -> Any:
    if not guard.expression:
        return None
    try:
        return scope.value(guard.source)
    except Exception:  # noqa: BLE001  the way to a value leads through the user's properties: anything can come out
        return _GONE


def _outermost(changes: Iterable[Change]) -> list[Change]:
    """The changes without those that another one explains, such as the items of a list that is shorter now."""
    changes = list(changes)
    outer = {change.expression: change for change in changes if change.aspect in _CONTAINERS and change.expression}

    def explained(change: Change) -> bool:
        same = outer.get(change.expression)
        inside = (f"{each}{end}" for each in outer for end in (".", "["))
        within = change.expression.startswith(tuple(inside)) or any(
            f"dict.keys({each})" in change.expression for each in outer
        )
        return within or (same is not None and _rank(same) < _rank(change)) or _is_side_effect(change, changes)

    return [change for change in changes if not explained(change)]


def _is_side_effect(change: Change, changes: Iterable[Change]) -> bool:
    """Whether the change is about the strides of a tensor of which something else changed, too."""
    strides = change.aspect == "relation" and ".stride()" in change.expression
    return strides and any(other.source in change.sources and other.aspect != "relation" for other in changes)


def _rank(change: Change) -> int:
    return _CONTAINERS.index(change.aspect) if change.aspect in _CONTAINERS else len(_CONTAINERS)


def _find_guard_changes(graph: SeenGraph, guard: SeenGuard, value: Any, scope: Scope) -> Iterator[Change]:
    named = graph.named(guard)
    if guard.kind == GLOBAL_STATE and isinstance(guard.fact, Fact):
        for what, was, now in state_differences(guard.fact, current_state()):
            yield make_change("state", Named(text=what, role=""), was, now)
    elif guard.kind == SAME_OBJECT:
        yield from _separated_pair(graph, guard, value, scope, named)
    elif isinstance(guard.fact, TensorFact):
        yield from _tensor_changes(guard, guard.fact, value, named)
    elif isinstance(guard.fact, Fact):
        kind = KINDS[guard.kind]
        assert kind.read is not None
        after = _reread(guard, value)
        if after.key != guard.fact.key:
            was = guard.fact.words
            yield _change_at(kind.aspect, named, was, f"another {was}" if was == after.words else after.words, guard)


def _reread(guard: SeenGuard, value: Any) -> Fact:
    read = KINDS[guard.kind].read
    if value is _GONE or read is None:
        return Fact(_GONE, "not there")
    try:
        return read(value, guard.keywords)
    except Exception:  # noqa: BLE001  __len__ and __repr__ of the user's classes, of another class than before
        return Fact(_GONE, described(value))


def _separated_pair(graph: SeenGraph, guard: SeenGuard, value: Any, scope: Scope, named: Named) -> Iterator[Change]:
    other = graph.named_expression(guard.other.name)
    try:
        same = scope.value(guard.other) is value
    except Exception:  # noqa: BLE001  as in _value_of
        same = False
    if not same:
        pair = Named(text=f"{other.text} and {named.text}", role=named.role)
        yield _change_at("aliasing", pair, "one object", "two", guard)


def _aliased_pairs(graph: SeenGraph, values: Iterable[tuple[SeenGuard, Any]]) -> Iterator[Change]:
    """Arguments that were two tensors, and are now one: torch allows that for parameters only."""
    seen: dict[int, SeenGuard] = {}
    for guard, value in values:
        if guard.kind != TENSOR or not isinstance(value, torch.Tensor) or isinstance(value, torch.nn.Parameter):
            continue
        first = seen.setdefault(id(value), guard)
        if first.expression != guard.expression:
            names = [graph.named(each) for each in (first, guard)]
            pair = Named(text=f"{names[0].text} and {names[1].text}", role=names[1].role)
            yield _change_at("aliasing", pair, "two tensors", "one", guard)


def _tensor_changes(guard: SeenGuard, before: TensorFact, value: Any, named: Named) -> Iterator[Change]:
    if not isinstance(value, torch.Tensor):
        now = "not there" if value is _GONE else repr(value) if value is None else described(value)
        yield _change_at("type", named, before.words, now, guard)
        return
    after = read_tensor(value)
    plain: list[tuple[str, Any, Any]] = [
        ("tensor class", before.python_class, after.python_class),
        ("dtype", before.dtype, after.dtype),
        ("device", before.device, after.device),
        ("requires_grad", before.requires_grad, after.requires_grad),
        ("inference", before.inference, after.inference),
        ("rank", len(before.shape), len(after.shape)),
    ]
    differing = [(aspect, was, now) for aspect, was, now in plain if was != now]
    if before.dispatch != after.dispatch and not differing:
        differing = [("dispatch", before.dispatch, after.dispatch)]
    for aspect, was, now in differing:
        part = Named(text=_PARTS[aspect].format(named.text), role=named.role, owner=named.owner)
        yield _change_at(aspect, part, str(was), str(now), guard, name=named.text)
    # Only a mark that was not there when the graph was compiled rules the graph out.
    if after.marks and not set(after.marks) <= set(before.marks):
        was, now = ", ".join(before.marks) or "not marked", ", ".join(after.marks)
        yield _change_at("marks", named, was, f"marked {now}", guard)
    if len(before.shape) == len(after.shape):
        yield from _size_changes(guard, before, after, named)


_PARTS = {
    "tensor class": "the class of {}",
    "dtype": "the dtype of {}",
    "device": "the device of {}",
    "requires_grad": "{}.requires_grad",
    "inference": "{}.is_inference()",
    "dispatch": "the dispatch of {}",
    "rank": "the number of dimensions of {}",
}


def _size_changes(guard: SeenGuard, before: TensorFact, after: TensorFact, named: Named) -> Iterator[Change]:
    sizes_differ = False
    for d, (was, now, symbol) in enumerate(zip(before.shape, after.shape, before.symbols, strict=True)):
        if was != now and not symbol:
            sizes_differ = True
            part = Named(text=f"dimension {d} of {named.text}", role=named.role, owner=named.owner)
            yield _change_at("size", part, str(was), str(now), guard, name=named.text, dimension=d)
    strides = zip(before.strides, after.strides, before.free_strides, strict=False)
    strides_differ = any(was != now and not free for was, now, free in strides)
    # Other sizes have other strides: then only another order of the dimensions counts as a change of the layout.
    if before.layout != after.layout and (strides_differ or sizes_differ):
        yield _change_at("layout", named, before.layout, after.layout, guard)
    elif strides_differ and not sizes_differ and not any(before.symbols):
        yield _change_at("layout", named, f"strides {list(before.strides)}", f"strides {list(after.strides)}", guard)


def _failed_relations(graph: SeenGraph, scope: Scope) -> Iterator[Change]:
    for shape in graph.shapes:
        try:
            if scope.evaluated(shape.expression):
                continue
            values = {each: scope.evaluated(each) for each in values_in(shape.expression)}
        except Exception:  # noqa: BLE001  another rank or class than before: another guard reports that change
            continue
        yield _relation_change(graph, shape, values)


def _relation_change(graph: SeenGraph, shape: ShapeGuard, values: Mapping[str, Any]) -> Change:
    names = {each: graph.named_expression(each) for each in values}
    first = next(iter(values), "")
    about = names.get(first, Named(text="", role=""))
    at = re.search(r"\.size\(\)\[(\d+)\]$", first)
    was = shape_words(shape.expression, lambda each: names[each].text)
    now = ", ".join(f"{names[each].text} is {value}" for each, value in values.items())
    words = f"the graph is for calls where {was}; now {now}"
    aspect = "assumed" if shape.assumed else "bound" if is_lower_bound(shape.expression) else "relation"
    if (number := fixed_number(shape.expression)) is not None:
        aspect, was, now = "specialised", str(number), str(values[first])
        words = f"{about.text} was {was}, now {now}"
    return Change(
        aspect=aspect,
        source=", ".join(dict.fromkeys(each.text.partition(" of ")[2] or each.text for each in names.values())),
        was=was,
        now=now,
        words=words,
        user_line=graph.line_of(shape),
        role=about.role,
        dimension=int(at[1]) if at else None,
        expression=shape.expression,
    )


def _change_at(
    aspect: str, named: Named, was: str, now: str, guard: SeenGuard, *, name: str = "", dimension: int | None = None
) -> Change:
    return make_change(
        aspect,
        named,
        was,
        now,
        user_line=guard.user_line,
        expression=guard.expression,
        name=name,
        dimension=dimension,
    )
