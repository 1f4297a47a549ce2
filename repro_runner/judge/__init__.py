"""Whether a change keeps what a program does. One judge for `run`, `score`, `explain --fix` and `explain --try`.

A child runs the program and records what it does, as data (`recording`, `state`, `surroundings`, `leaves`). Another
process, which loads no code of the program, compares two such observations (`comparing`) and gives the verdict.
"""

from __future__ import annotations

RESULT, INPUTS, STATE, MEMORY = "results", "inputs", "state", "shared memory"
RANDOM, MODES, FILES, GRADIENTS = "random numbers", "modes", "files", "gradients"
OUT, ERR, RECORDS, WARNINGS = "standard output", "standard error", "log records", "warnings"
EVENTS, ERROR, TORCH = "processes, sockets and files opened", "exceptions", "torch itself"
ASPECTS = (
    *(ERROR, RESULT, GRADIENTS, INPUTS, STATE, MEMORY, RANDOM, OUT, ERR, RECORDS, WARNINGS, FILES),
    *(EVENTS, MODES, TORCH),
)
"""All that is compared, what matters most first."""
OUTPUT = frozenset({OUT, ERR, RECORDS, WARNINGS})
EFFECTS = OUTPUT | {STATE, MEMORY, FILES, EVENTS, RANDOM, MODES}
"""What a program does beside its results."""
OF_COMPILERS = frozenset({RANDOM, MODES, WARNINGS, RECORDS})
"""What a compiler does in another way, or leaves behind itself."""
SAVED = " in state_dict()"
"""The end of the path of a state that says whether a buffer is saved."""

WORDS_OF_TORCH = (
    r"^(?:\[rank\d+\]:)?[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n"
    r"|^.*[/\\]torch[/\\].*Warning: [\s\S]*?\n  .*\n"
    r"|^.*Warning: .*(?:\n(?!.*Warning: ).*)*?\(Triggered internally at .*\n  .*\n"
)
"""A line of torch's log, or a warning of torch or of its C++ code with the line that it is about. They may be about
breaks, so they are ignored."""
