"""Text for a terminal: what a run holds may come from anywhere, and must not steer the terminal it is shown in."""

from __future__ import annotations

from collections.abc import Sequence


def plain(text: object) -> str:
    """One line in which nothing is a control character: line breaks and escapes are spelt out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(text))


def table(rows: Sequence[Sequence[object]], *, right: Sequence[int] = (), indent: str = "") -> list[str]:
    """Columns under each other, two spaces apart; those named in `right`, by their place, are numbers."""
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
