"""The site's address in every message that torch prints: fixed, wherever else a copy of the site lies."""

from __future__ import annotations

SITE = "https://meta-pytorch.github.io/compile-graph-break-site"


def page_address(gb_id: str) -> str:
    """`…/gb/gb0033.html`; empty for a local id, which has no page there."""
    return "" if gb_id.startswith("GBL-") else f"{SITE}/gb/{gb_id.lower()}.html"
