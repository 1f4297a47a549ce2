"""JSON for the page's scripts: small, and laid out by its writer so that a diff shows one id as one line."""

from __future__ import annotations

import json


def compact(value: object) -> str:
    """One value on one line, without a space to spare."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
