"""One value that is not what it was when a graph was compiled, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repro_runner.guards.naming import CompiledFunction, Named, name_value

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
    """As the user calls it; of a relation between several, all of them."""
    was: str
    now: str
    words: str
    user_line: str = ""
    role: str = ""
    dimension: int | None = None
    expression: str = ""
    """As torch reaches it."""

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self.source.split(", "))


def changed(
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
    """`name` is the value itself, where `named` is a part of it: a dimension, its dtype."""
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
    """What torch itself says, for a graph that was compiled before anybody looked."""
    text = reason.partition("\nUser stack trace")[0].partition(": ")[2] or reason
    text = re.split(r"\s+# ", text)[0].strip()
    if found := _MISMATCH.search(text):
        part = "dimension" if found["what"] == "size" else "stride"
        named = Named(text=f"{part} {found['at']} of {found['name']}", role="argument")
        aspect = "size" if found["what"] == "size" else "layout"
        return changed(aspect, named, found["was"], found["now"], name=found["name"], dimension=int(found["at"]))
    if found := _FREED.search(text):
        return changed("freed", name_value(found["name"], function), "in use", "freed")
    if text.startswith("BACKEND_MATCH"):
        return changed("backend", Named(text="the backend", role=""), "another object", "this one")
    return Change(aspect="other", source="", was="", now="", words=text)
