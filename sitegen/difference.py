"""Two wordings, word by word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator


def words(text: str) -> list[str]:
    """Cut into words and signs, each with the space after it; joined they are the text."""
    return re.findall(r"^\s+|(?:\w+|[^\w\s])\s*", text)


def difference(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield (same | old | new, text), word by word: without `new` it is the old text, without `old` the new."""
    before, after = words(old), words(new)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(before[i:j])
            continue
        if j > i:
            yield "old", "".join(before[i:j])
        if m > k:
            yield "new", "".join(after[k:m])


def similar(old: str, new: str, least: float = 0.3) -> bool:
    """Whether a difference helps a reader: two texts with nothing in common are better shown as they are."""
    return difflib.SequenceMatcher(None, words(old), words(new), autojunk=False).ratio() >= least
