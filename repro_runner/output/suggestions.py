"""What to suggest for a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection


def did_you_mean(
    name: str, known: Collection[str], *, most: int = 3, alike: float = 0.6, spelled: Callable[[str], str] = str
) -> str:
    """`; did you mean float32 or float16?`: at most `most` of the known names; empty if none is near.

    `alike` is how near a name has to be: 1 is the same. `spelled` turns a known name into the text to show, for example
    `repr`.
    """
    near = [name] if name in known else difflib.get_close_matches(name, known, n=most, cutoff=alike)
    return f"; did you mean {' or '.join(map(spelled, near))}?" if near else ""
