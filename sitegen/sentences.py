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
    """`emitted by torch 2.8.0 – 2.15.0`: the first and the last release that emit it."""
    live = [seen.torch for seen in gb.history.releases if seen.live]
    if live:
        return f"emitted by torch {' – '.join(dict.fromkeys((live[0], live[-1])))}"
    return "in no release yet" if gb.registered and not gb.local and not gb.history.first_release else ""
