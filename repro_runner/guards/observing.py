"""Watch Dynamo build guards, and see them fail.

Three functions of torch are wrapped while there is an observer: where a graph's guards are put together, where torch
asks itself why no compiled graph fits a call, and where it counts recompiles against its limit. Nothing is added to
what torch checks. Everything is put back when the last observer leaves, also after an exception, in whatever order they
leave.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.capture.naming import CompiledFunction
from repro_runner.guards.changes import Change, Scope, change_from_reason, find_changes
from repro_runner.guards.reading import SeenGraph, read_graph
from repro_runner.torch_seams import CompileContext, convert_frame, dynamo_config, guards, wrap

_WRAPPED: tuple[tuple[Any, str], ...] = (
    (guards.CheckFunctionManager, "compile_check_fn"),
    (convert_frame, "get_and_maybe_log_recompilation_reasons"),
    (convert_frame, "exceeds_recompile_limit"),
)


@dataclass(slots=True, eq=False)
class SeenRecompile:
    """A call that no compiled graph fitted: why the nearest graph did not fit, and what torch did then."""

    function: CompiledFunction
    compile_id: str
    changes: tuple[Change, ...]
    reasons: tuple[str, ...] = ()
    limit: str = ""
    """`recompile_limit (8)`: torch compiled no more."""


@dataclass(slots=True, eq=False)
class Observation:
    """What was seen, in order."""

    graphs: list[SeenGraph] = field(default_factory=list)
    recompiles: list[SeenRecompile] = field(default_factory=list)
    call: int = 0
    """Which of the calls is being made, from 1; 0 if nobody counts them."""
    compiled_in: dict[str, int] = field(default_factory=dict)
    """Compile id -> the call in which torch compiled it, or gave up."""
    by_manager: weakref.WeakKeyDictionary[Any, SeenGraph] = field(default_factory=weakref.WeakKeyDictionary)


_active: list[Observation] = []
_undo = ExitStack()
_lock = threading.RLock()


@contextmanager
def observe() -> Iterator[Observation]:
    """Record every graph and recompile of this process."""
    observation = Observation()
    with _lock:
        if not _active:
            _install()
        _active.append(observation)
    try:
        yield observation
    finally:
        with _lock:
            _active.remove(observation)
            if not _active:
                _undo.close()


def _install() -> None:
    missing = [name for owner, name in _WRAPPED if not hasattr(owner, name)]
    if missing:
        problem = f"guards can't be read in it: it has no {', '.join(missing)}; torch 2.11 to 2.15 have them"
        raise InvalidInput([Problem(f"torch {torch.__version__}", problem)])
    wrappers: tuple[Callable[[Any], Any], ...] = (_around_build, _around_reasons, _around_limit)
    for (owner, name), wrapper in zip(_WRAPPED, wrappers, strict=True):
        wrap(_undo, owner, name, wrapper)


def _around_build(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def build(manager: Any, builder: Any, guards_out: Sequence[Any], *args: Any, **kwargs: Any) -> None:
        graph = read_graph(builder.f_code, _compile_id(), builder, guards_out, manager.output_graph)
        for observation in _active:
            observation.graphs.append(graph)
            observation.compiled_in[graph.compile_id] = observation.call
            observation.by_manager[manager.guard_manager] = graph
        original(manager, builder, guards_out, *args, **kwargs)

    return build


def _around_reasons(original: Callable[..., list[str]]) -> Callable[..., list[str]]:
    @functools.wraps(original)
    def reasons(entries: Any, frame: Any, backend: Any, skip_logging: bool = False) -> list[str]:
        if skip_logging:  # torch only asks; nothing is compiled
            return original(entries, frame, backend, skip_logging)
        function = CompiledFunction.of(frame.f_code, frame.f_locals)
        events = []
        for observation in _active:
            events.append(SeenRecompile(function, _compile_id(), _nearest_changes(observation, entries, frame)))
            observation.recompiles.append(events[-1])
            observation.compiled_in[events[-1].compile_id] = observation.call
        # Torch may be set to raise here; the recompile is on record before it does.
        given = original(entries, frame, backend, skip_logging)
        for event in events:
            event.reasons = tuple(given)
            if not event.changes and given:
                event.changes = (change_from_reason(given[0], function),)
        return given

    return reasons


def _around_limit(original: Callable[..., tuple[bool, str]]) -> Callable[..., tuple[bool, str]]:
    @functools.wraps(original)
    def exceeds(*args: Any, **kwargs: Any) -> tuple[bool, str]:
        exceeded, limit = original(*args, **kwargs)
        for observation in _active:
            last = observation.recompiles[-1:]
            if exceeded and last and last[0].compile_id == _compile_id():
                last[0].limit = f"{limit} ({getattr(dynamo_config, limit)})"
        return exceeded, limit

    return exceeds


def _nearest_changes(observation: Observation, entries: Any, frame: Any) -> tuple[Change, ...]:
    """What changed for the graph that fits best. That is the graph with the fewest changes; among equals, the one with
    the fewest values that fit another graph, since such a value needs no new graph; then the newest."""
    found: list[tuple[SeenGraph, tuple[Change, ...]]] = []
    for entry in _cache_entries(entries):
        manager = entry.guard_manager
        if graph := observation.by_manager.get(manager):
            scope = Scope(frame.f_locals, manager.global_scope["G"], manager.closure_vars)
            found.append((graph, find_changes(graph, scope)))

    def known(change: Change) -> bool:
        return any(
            change.expression in {guard.expression for guard in graph.guards}
            and change.expression not in {other.expression for other in changes}
            for graph, changes in found
        )

    reasons = [changes for _, changes in found if changes]
    return min(reasons, key=lambda changes: (len(changes), sum(map(known, changes))), default=())


def _cache_entries(entries: Any) -> Iterator[Any]:
    """Torch 2.13 gives a list of entries; earlier releases give the first entry of a chain."""
    if isinstance(entries, Sequence):
        yield from entries
        return
    while entries is not None:
        yield entries
        entries = entries.next


def _compile_id() -> str:
    return str(CompileContext.current_compile_id() or "")
