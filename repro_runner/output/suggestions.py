"""What to suggest for a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection


def did_you_mean(
    name: str, known: Collection[str], *, most: int = 3, cutoff: float = 0.6, spelled: Callable[[str], str] = str
) -> str:
    """`; did you mean float32 or float16?`: at most `most` of the known names; empty if none is near.

    `cutoff` is how near a name has to be: 1 is the same. `spelled` turns a known name into what is shown: `repr`, say.
    """
    near = [name] if name in known else difflib.get_close_matches(name, known, n=most, cutoff=cutoff)
    return f"; did you mean {' or '.join(map(spelled, near))}?" if near else ""
