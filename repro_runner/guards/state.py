"""Torch's global state, which every graph is compiled for: grad mode, autocast, threads and the like."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from repro_runner.guards.facts import Fact

_WORDS = {
    "grad_mode": "grad mode",
    "num_threads": "number of threads",
    "default_dtype": "default dtype",
    "deterministic_algorithms": "deterministic algorithms",
    "torch_function": "overrides of torch's functions",
    "autocast_state.enabled": "autocast",
    "autocast_state.dtype": "dtypes of autocast",
    "autocast_state.cached_enabled": "autocast's cache",
}
_TOLD = ("grad_mode", "autocast_state.enabled", "num_threads", "deterministic_algorithms")
"""What a summary names; the rest is compared all the same."""


def read_state(state: Mapping[str, Any]) -> Fact:
    """Of the mapping that torch keeps: {"grad_mode": true, …}."""
    flat = dict(_flattened(state))
    told = [f"{_WORDS[key]} {_told(flat[key])}" for key in _TOLD if key in flat]
    return Fact(tuple(sorted((key, _told(value)) for key, value in flat.items())), ", ".join(told))


def current_state() -> Fact:
    """As it is now."""
    guard: Any = torch._C._dynamo.guards.GlobalStateGuard()
    return read_state(json.loads(guard.__getstate__()))


def differences(before: Fact, after: Fact) -> Iterator[tuple[str, str, str]]:
    """(what, was, now) for each part that is no longer the same."""
    assert isinstance(before.key, tuple) and isinstance(after.key, tuple)
    earlier, later = dict(before.key), dict(after.key)
    for key in sorted(earlier.keys() | later.keys()):
        if earlier.get(key) != later.get(key):
            words = _WORDS.get(key, key.replace("_", " "))
            yield words, earlier.get(key, "not there"), later.get(key, "not there")


def _flattened(state: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in state.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _told(value: Any) -> str:
    """`on` and `off`; a list, one entry per device, is on if any of them is."""
    if isinstance(value, list) and value and all(isinstance(each, bool) for each in value):
        return "on" if any(value) else "off"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
