"""Text for a terminal. Text from a program may contain control characters, which must not reach the terminal."""

from __future__ import annotations

from collections.abc import Sequence


def plain(text: object) -> str:
    """The text as one line without control characters: line breaks and escapes are spelt out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(text))


def table(rows: Sequence[Sequence[object]], *, right: Sequence[int] = (), indent: str = "") -> list[str]:
    """Lay out rows as lines with columns two spaces apart. `right` has the indexes of the right-aligned columns."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        indent
        + "  ".join(
            f"{cell:>{width}}" if place in right else f"{cell:{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
