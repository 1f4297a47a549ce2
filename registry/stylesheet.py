"""Colours, spacing, text, tables and code, in one stylesheet: the site publishes it, a report carries it inside."""

from __future__ import annotations

from pathlib import Path

_LOOK = Path(__file__).with_name("look.css")


def read_look() -> str:
    """The stylesheet that the site and the toolkit's reports share."""
    return _LOOK.read_text("utf-8")
