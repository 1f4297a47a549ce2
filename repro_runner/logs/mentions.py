"""Torch says some things twice: +dynamo repeats a break when it compiles what comes before it, or gives a frame up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from repro_runner.explain.site import Site

_KEPT = 1000
"""Mentions after which those that turned out to be told are let go."""


class Mentions:
    """Keeps breaks that were only mentioned, until it is known which of them nobody reported."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()
        """(id or unknown type, compile id), and with "" every one that was reported at all."""
        self._raised: set[str] = set()
        self._mentioned: dict[tuple[object, ...], Site] = {}
        self._most = _KEPT

    def tell(self, one: Site) -> None:
        """A break was reported or raised; an exception has no compile id, and may stand for any."""
        for name in _names(one):
            self._told.add((name, ""))
            self._told.update((name, compile_id) for compile_id in one.compile_ids)
            if not one.compile_ids:
                self._raised.add(name)

    def add(self, one: Site, record: str) -> None:
        """A break is mentioned, in a record or outside of any. Of a record that mentions several, the last counts."""
        key = (record,) if record else (one.gb_ids, one.gb_types)
        before = self._mentioned.get(key)
        if before:
            one = replace(one, compiled=1 if record else before.compiled + 1, log_line=before.log_line)
        self._mentioned[key] = one
        if len(self._mentioned) > self._most:
            self._mentioned = {key: one for key, one in self._mentioned.items() if not self._is_told(one)}
            self._most = max(_KEPT, 2 * len(self._mentioned))

    def untold(self) -> Iterator[Site]:
        """Those that the log tells of in no other way."""
        return (one for one in self._mentioned.values() if not self._is_told(one))

    def _is_told(self, one: Site) -> bool:
        compile_id = one.compile_ids[0] if one.compile_ids else ""
        return any(name in self._raised or (name, compile_id) in self._told for name in _names(one))


def _names(one: Site) -> tuple[str, ...]:
    return one.gb_ids or one.gb_types
