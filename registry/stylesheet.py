"""Colours, spacing, text, tables and code, in one stylesheet: the site publishes it, a report carries it inside."""

from __future__ import annotations

from pathlib import Path

_STYLESHEET = Path(__file__).with_name("look.css")


def read_stylesheet() -> str:
    """The stylesheet that the site and the toolkit's reports share."""
    return _STYLESHEET.read_text("utf-8")
