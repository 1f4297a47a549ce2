"""Where a break happened, and which of its reports is the one to count."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from repro_runner.capture.breaks import SWALLOWED, UserFrame
from repro_runner.capture.recorder import Raised


def stack_of(raised: Raised) -> tuple[UserFrame, ...]:
    """The user's frames; of a break before the first instruction, the function that was to be compiled."""
    if raised.stack or raised.frame is None or raised.frame.code is None:
        return raised.stack
    code = raised.frame.code
    source = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return (UserFrame(file=code.co_filename, line=code.co_firstlineno, function=code.co_name, source=source),)


def is_break(raised: Raised) -> bool:
    """Whether a graph broke, or a function that somebody wanted compiled was given up."""
    if raised.kind == SWALLOWED or not stack_of(raised):
        return False
    return raised.frame is None or raised.frame.asked_for


def innermost(causes: Iterable[Raised]) -> list[Raised]:
    """Without those that happened once more inside.

    A break in `g`, inlined into `f`, is reported when `f` is compiled. Then `f` calls `g`, which is compiled by itself,
    and breaks again: that is the same event, and only the report from `g` is to be counted.
    """
    paths = {id(one): tuple((frame.file, frame.line) for frame in stack_of(one)) for one in causes}
    known = set(paths.values())
    return [
        one for one in causes if not any(paths[id(one)][start:] in known for start in range(1, len(paths[id(one)])))
    ]
