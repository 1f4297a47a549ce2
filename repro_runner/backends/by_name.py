"""A backend by its name: one that torch knows, or `module:name` and `FILE.py:name` for one's own."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from torch._dynamo.backends.registry import list_backends, lookup_backend

from registry.errors import InvalidInput, Problem
from repro_runner.model_under_test import ModelFailed, import_source
from repro_runner.model_under_test.model import told

Backend = Callable[..., Callable[..., Any]]


def find_backend(name: str) -> Backend:
    """Import it; InvalidInput suggests near misses."""
    source, _, attribute = name.rpartition(":")
    return _imported(source, attribute) if source else _registered(name)


def _imported(source: str, attribute: str) -> Backend:
    name = f"{source}:{attribute}"
    try:
        found: Backend | None = getattr(import_source(source), attribute, None)
    except ModelFailed as error:
        raise InvalidInput([Problem(name, f"can't be imported: {told(error.__cause__ or error)}")]) from error
    if found is None or not callable(found):
        raise InvalidInput([Problem(name, f"no backend `{attribute}` in it")])
    return found


def _registered(name: str) -> Backend:
    known = list_backends(exclude_tags=())
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise InvalidInput([Problem(name, f"no such backend; {hint} One's own: `module:name`")])
    try:
        backend: Backend = lookup_backend(name)
    except Exception as error:  # whatever its package raises when it is imported
        raise InvalidInput([Problem(name, f"the backend can't be loaded: {told(error)}")]) from error
    return backend
