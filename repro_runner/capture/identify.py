"""Find the id for the gb_type of a break, as the installed torch prints it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from registry.ids import linked_ids, local_id

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class Identifier:
    """Finds ids: first in torch's own registry, then among types of other releases, then by the link in the message.

    The link comes last, because a message that quotes another break contains both links.
    """

    def __init__(self, other_types: Mapping[str, str] | None = None) -> None:
        self._types = {**(other_types or {}), **_registered_types()}

    def gb_id(self, gb_type: str, message: str) -> str:
        """The id of the break. A type without a known id gets a local id, made from the type."""
        if gb_type in self._types:
            return self._types[gb_type]
        for registered, gb_id in self._types.items():
            if _fits(registered, gb_type):
                return gb_id
        return next(iter(linked_ids(message)), local_id(gb_type))


def _fits(registered: str, gb_type: str) -> bool:
    """Whether this type is a registered type with its `{placeholders}` filled in.

    A registered type with 8 letters or fewer beside its placeholders fits too many types, so it never matches.
    """
    literals = _PLACEHOLDER.split(registered)
    if len(literals) == 1 or sum(map(len, literals)) <= 8:
        return False
    return re.fullmatch(".+?".join(map(re.escape, literals)), gb_type, re.DOTALL) is not None


@lru_cache(maxsize=1)
def _registered_types() -> dict[str, str]:
    """The id of every gb_type in the registry that torch installs. If a type has two ids, torch uses the last one."""
    import torch

    path = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    if not path.exists():
        return {}
    registered = json.loads(path.read_text("utf-8"))
    return {revision["Gb_type"]: gb_id for gb_id, revisions in registered.items() for revision in revisions}
