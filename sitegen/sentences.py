"""Small phrases that several pages use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from registry.model import GraphBreak

_DEVICES = {"cpu": "CPU", "cuda": "CUDA"}


def device_name(device: str) -> str:
    """As people write it."""
    return _DEVICES.get(device, device)


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends one."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def comma_list(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = list(parts) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def release_span(gb: GraphBreak) -> str:
    """`torch 2.8.0 – 2.15.0`: the first release that had it, and the last that emits it."""
    first, last = gb.history.first_release, gb.history.last_live
    if first is None:
        return "in no release yet" if gb.registered and not gb.local else ""
    return f"torch {first} – {last}" if last and last != first else f"torch {first}"
