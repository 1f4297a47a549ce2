"""The exit codes of every verb: the number, its name, and its meaning in `graphbreak --help`."""

from __future__ import annotations

DONE = 0
NOT_AS_IT_SHOULD_BE = 1
REFUSED = 2
HOLDS_IN_PART = 3
INTERRUPTED = 130

MEANINGS = {
    DONE: "done, and all is as it should be",
    NOT_AS_IT_SHOULD_BE: "done, but something that was run is not as it should be",
    REFUSED: "the arguments or a data file are not valid, or what is asked for is not there: nothing was done; or the "
    "disk refused to keep what was found",
    HOLDS_IN_PART: "done: a change holds for what ran of it, and what never ran or could not be compared is named",
    INTERRUPTED: "interrupted; what had ended is kept",
}


def describe_exit_codes() -> str:
    """The exit codes as a paragraph of `graphbreak --help`."""
    lines = (f"  {code:<4} {meaning}\n" for code, meaning in MEANINGS.items())
    return "exit codes of every verb:\n" + "".join(lines)
