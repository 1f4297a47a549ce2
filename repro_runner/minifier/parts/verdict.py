"""Say what happened, and return it as an exit code."""

from __future__ import annotations

from collections.abc import Callable


def report(judge: Callable[[], tuple[int, str]]) -> int:
    try:
        code, text = judge()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, it is not the failure that this script is about
        code, text = 3, f"{type(error).__name__}: {error}"
    print({0: "gone: ", 1: "still fails: "}.get(code, "another failure: ") + text)
    return code
