"""Numbers as text for people: counts, sizes, times, and magnitudes of errors."""

from __future__ import annotations

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


def magnitude(value: object) -> str:
    """A number with two digits: `1.2e-07`, `0`. Infinity and NaN, which JSON stores as text, stay; None is a dash."""
    if isinstance(value, bool) or value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.2g}" if isinstance(value, float) else str(value)
