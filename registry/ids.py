"""Ids of graph breaks: how they are written, which page each has, and the local ids of breaks that have no other.

`GB0033` is upstream's, `GBL-1A2B3C` is made here from the type. Standard library only: the runner's children use it.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

PRINTED = "https://meta-pytorch.github.io/compile-graph-break-site"
"""The address in every message that torch prints: fixed, wherever else a copy of the site lies."""


def _published_at() -> str:
    """Where a copy of the site lies: GRAPHBREAK_SITE, or `url` and `baseurl` of this checkout's docs/_config.yml."""
    if named := os.environ.get("GRAPHBREAK_SITE"):
        return named.rstrip("/")
    try:
        config = (Path(__file__).parent.parent / "docs" / "_config.yml").read_text("utf-8")
    except OSError:
        return PRINTED  # an installed package has no site beside it
    parts = dict(re.findall(r"""^(url|baseurl):[ "']*([^\s"'#]+)""", config, re.MULTILINE))
    return (parts.get("url", "") + parts.get("baseurl", "")).rstrip("/") or PRINTED


SITE = _published_at()
"""Where the links of commands and reports lead."""

UPSTREAM_ID = r"GB[0-9]{4,6}"
GB_ID = rf"{UPSTREAM_ID}|GBL-[0-9A-F]{{6}}"
"""A pattern, without a group of its own: put it into brackets."""
LINK = rf"/gb/({GB_ID.lower()})\.html"
"""The pattern of an address that torch prints, in lower case; it means the same in JavaScript."""

_GB_ID = re.compile(GB_ID)
_LINK = re.compile(LINK, re.IGNORECASE)


def is_gb_id(text: str) -> bool:
    """Whether the text is an id, of upstream or local, in capitals."""
    return _GB_ID.fullmatch(text) is not None


def id_of_program(name: str) -> str:
    """The id that a program in registry/repros is for: `GB0007` and `GB0007_time` are for GB0007."""
    return name.partition("_")[0]


def read_gb_id(text: str) -> str:
    """The id that a person wrote: `gb42`, `42` and `GB0042` are all GB0042; what is no id comes back in capitals."""
    digits = re.fullmatch(r"(?:GB)?([0-9]+)", text, re.IGNORECASE)
    return f"GB{digits[1]:0>4}" if digits else text.upper()


def looks_like_gb_id(text: str) -> bool:
    """Whether this was probably meant as an id: true for `gb12` and `GBL-xyz`, which are none."""
    return re.match(r"GB[0-9L-]", text, re.IGNORECASE) is not None


def is_local(gb_id: str) -> bool:
    """Whether the id was made here, and so has no page on the public site."""
    return gb_id.startswith("GBL-")


def local_id(gb_type: str) -> str:
    """The id of a break that upstream has none for: from its type, so that two machines agree without talking."""
    return "GBL-" + hashlib.sha256(gb_type.encode("utf-8")).hexdigest()[:6].upper()


def page_address(gb_id: str) -> str:
    """`…/gb/gb0033.html`; empty for a local id and for what is not an id."""
    return f"{SITE}/gb/{gb_id.lower()}.html" if is_gb_id(gb_id) and not is_local(gb_id) else ""


def linked_ids(text: str) -> list[str]:
    """The ids that a text links to, in order."""
    return [found.upper() for found in _LINK.findall(text)]
