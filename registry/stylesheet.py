"""Colours, spacing, text, tables and code, in one stylesheet: the site publishes it, a report carries it inside."""

from __future__ import annotations

import re
from pathlib import Path

_STYLESHEET = Path(__file__).with_name("look.css")


def read_stylesheet() -> str:
    """The stylesheet that the site and the toolkit's reports share."""
    return _STYLESHEET.read_text("utf-8")


def read_palette() -> dict[str, dict[str, str]]:
    """The variables of the stylesheet, `light` and `dark`, by name: `--paper`."""
    blocks = re.findall(r":root \{(.*?)\n *\}", read_stylesheet(), re.DOTALL)
    light, dark = (dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block)) for block in blocks[:2])
    return {"light": light, "dark": {**light, **dark}}
