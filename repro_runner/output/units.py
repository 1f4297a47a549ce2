"""Numbers as text for people: counts, sizes, times, and magnitudes of errors; and such text read again."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SIZE = re.compile(r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18}(?=\s*[KMGT]))?)\s*(?P<unit>[KMGT]i?B|B)?", re.IGNORECASE)
A_SIZE = "a size in bytes, such as 4096 or 16 GiB"
_BYTES = ("KiB", "MiB", "GiB", "TiB")
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 run`, `2 runs`, `2 matches`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def size(count: float) -> str:
    """A number of bytes: `512 B`, `4.2 MiB`."""
    if round(count) < 1024:
        return f"{count:.0f} B"
    for unit in _BYTES:
        count /= 1024
        if round(count, 1) < 1024 or unit == _BYTES[-1]:
            break
    return f"{count:.1f} {unit}"


def seconds(time: float) -> str:
    """A time with three significant digits: `1.25 ms`."""
    for scale, unit in _SECONDS:
        number = float(f"{time / scale:.3g}")  # rounded first: 0.9999 s is 1 s, not 1000 ms
        if abs(number) >= 1 or unit == "ns":
            break
    return f"{number:.0f} {unit}" if abs(number) >= 1000 else f"{number:.3g} {unit}"


def minutes(time: float) -> str:
    """A long time, in minutes, at least one: `12 min`, `1 h 5 min`."""
    hours, rest = divmod(max(1, round(time / 60)), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def magnitude(value: object) -> str:
    """A number with two digits: `1.2e-07`, `0`. Infinity and NaN, which JSON stores as text, stay; None is a dash."""
    if isinstance(value, bool) or value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def parse_number(text: str, at_least: int | None = None) -> int | None:
    """A whole number; None if the text is none, or a smaller one."""
    number = int(text) if _NUMBER.fullmatch(text) else None
    return None if number is None or (at_least is not None and number < at_least) else number


def a_number(at_least: int | None) -> str:
    """What `parse_number` takes, in words."""
    return "a whole number" if at_least is None else f"a whole number, at least {at_least}"


def parse_size(text: str) -> int | None:
    """Bytes: 4096, 512 MiB, 16 GB (10^9), 1.5 GiB (2^30); None if the text is no size."""
    if (size := _SIZE.fullmatch(text.strip())) is None:
        return None
    unit = (size["unit"] or "B").upper()
    return int(Decimal(size["number"]) * (1024 if "I" in unit else 1000) ** "BKMGT".index(unit[0]))
