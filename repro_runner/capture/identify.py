"""From the gb_type of a break to its id, as this torch prints it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_LINK = re.compile(r"/gb/gb(\d{4,6})\.html")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class Identifier:
    """Finds ids by torch's own registry, by types of other releases, then by the link in the message.

    The link comes last: the message of a break that another one caused may quote both links.
    """

    def __init__(self, other_types: Mapping[str, str] | None = None) -> None:
        self._types = {**(other_types or {}), **_registered_types()}
        self._patterns = [
            (re.compile("(.+?)".join(map(re.escape, _PLACEHOLDER.split(gb_type)))), gb_id)
            for gb_id, gb_type in ((gb_id, gb_type) for gb_type, gb_id in self._types.items())
            if _PLACEHOLDER.search(gb_type) and len(_PLACEHOLDER.sub("", gb_type)) > 8
        ]

    def gb_id(self, gb_type: str, message: str) -> str:
        """The id; a local one, made from the type, where nobody has given it one."""
        if gb_type in self._types:
            return self._types[gb_type]
        for pattern, gb_id in self._patterns:
            if pattern.fullmatch(gb_type):
                return gb_id
        link = _LINK.search(message)
        if link:
            return f"GB{link[1]}"
        return "GBL-" + hashlib.sha256(gb_type.encode("utf-8")).hexdigest()[:6].upper()


@lru_cache(maxsize=1)
def _registered_types() -> dict[str, str]:
    """Every gb_type in the registry beside this torch; a type with two ids has the last one, as torch takes it."""
    import torch

    path = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    if not path.exists():
        return {}
    registered = json.loads(path.read_text("utf-8"))
    return {revision["Gb_type"]: gb_id for gb_id, revisions in registered.items() for revision in revisions}
