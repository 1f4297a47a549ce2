"""From the text in a trace to the break it tells of: its ids, its kind, the user's stack."""

from __future__ import annotations

import re
from collections import OrderedDict

from registry.matching import Match, Matcher
from repro_runner.capture.breaks import UserFrame

SKIPPED = "Skipping the function and falling back to eager"
"""torch 2.13 and newer say it in the reason; of older ones the compilation tells, which failed."""
_INTERNAL_STACK = "\nTraceback (most recent call last):"
_USER_STACKS = ("User code traceback:\n", "from user code:\n")
_FRAME = re.compile(r'\s*File "([^"\n]*)", line (\d{1,9}), in ([^\n]*)(?:\n(?!\s*File ")([^\n]*))?')
_REMEMBERED = 512
"""Texts whose answer is kept: a break repeats itself with every compilation."""


class BreakReader:
    """Names breaks with a matcher; the same text is named once."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known: OrderedDict[tuple[str, str], Match | None] = OrderedDict()

    def read_reason(self, payload: str, torch: str) -> tuple[Match | None, str, tuple[UserFrame, ...]]:
        """Of a logged break: its name, its kind as far as the text says, the stack."""
        message = payload.partition(_INTERNAL_STACK)[0]
        kind = "frame skipped" if SKIPPED in message else "resumed"
        return self.name(message, torch), kind, read_stack(message)

    def name(self, message: str, torch: str) -> Match | None:
        """The break in a message; None if it is about something else."""
        key = (message, torch)
        if key not in self._known:
            found = self._matcher.find_messages(message.split("\n"), torch=torch.partition("+")[0] or None)
            self._known[key] = next(iter(found), None)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]


def read_stack(text: str) -> tuple[UserFrame, ...]:
    """The user's frames in a break's text, outermost first; none when it has none."""
    for title in _USER_STACKS:
        _, found, after = text.partition(title)
        if found:
            stack = after.partition("\n\n")[0]
            return tuple(
                UserFrame(file=frame[1], line=int(frame[2]), function=frame[3].strip(), source=(frame[4] or "").strip())
                for frame in _FRAME.finditer(stack)
            )
    return ()
