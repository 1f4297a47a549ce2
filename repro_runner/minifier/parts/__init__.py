"""What a minified script is made of besides the program itself: the text of these modules goes into it.

Each needs only torch. A `check…` returns (exit code, what to say): 1 the failure is there, 0 it is gone,
3 something else is wrong.
"""

from __future__ import annotations

from collections.abc import Callable


def report(judge: Callable[[], tuple[int, str]]) -> int:
    """Say what happened, and return it as an exit code."""
    try:
        code, text = judge()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, it is not the failure that this script is about
        code, text = 3, f"{type(error).__name__}: {error}"
    print({0: "gone: ", 1: "still fails: "}.get(code, "another failure: ") + text)
    return code
