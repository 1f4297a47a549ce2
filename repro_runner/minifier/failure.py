"""What is wrong with a model, in the words that go into scripts and documents."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("violation", "compile", "numeric", "break")
"""In the order in which they are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure of one graph of a model."""

    kind: str
    summary: str
    """One line: `aten.mm.default float32[4, 3]: dimension 1 is 3: not a multiple of 16 (shape-alignment, forward)`."""
    rule: str = ""
    op: str = ""
    graph: str = ""
    """Of a violation: `forward` or `backward`."""
    gb_id: str = ""
    source: str = ""
    """`file:line` of the user's code, where it is known."""


class NotMinified(Exception):
    """There is a failure, and no program of its own could be made of it; the text says why."""
