"""What a program prints: caught, and compared with what another prints."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.(?P<places>\d*))?(?:e(?P<exponent>[+-]?\d+))?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]\w*")
_WRAPPER = "tensor"
"""In `tensor(0.1235)`. torch's own `print` for graphs writes 0.12345679 for the same tensor."""


@contextlib.contextmanager
def printed() -> Iterator[list[str]]:
    """Add what is written to standard output inside the block, by C++ too, to the list."""
    found: list[str] = []
    sys.stdout.flush()
    before = os.dup(sys.stdout.fileno())
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        try:
            yield found
        finally:
            sys.stdout.flush()
            os.dup2(before, sys.stdout.fileno())
            os.close(before)
            file.seek(0)
            found.append(file.read().decode("utf-8", "replace"))


def not_printed(expected: str, actual: str) -> str:
    """The first word or number that should be printed, and is not; empty if all are. Layout and order don't matter.

    A number counts if it is the same in the places that were printed.
    """
    missing = _words(expected) - _words(actual)
    if word := next((word for word in missing if word != _WRAPPER), ""):
        return word
    numbers = [float(found[0]) for found in _NUMBER.finditer(actual)]
    for found in _NUMBER.finditer(expected):
        number, places, exponent = float(found[0]), len(found["places"] or ""), int(found["exponent"] or 0)
        tolerance = 10.0 ** (exponent - places) if places else 0.0
        near = next((other for other in numbers if abs(other - number) <= tolerance), None)
        if near is None:
            return found[0]
        numbers.remove(near)
    return ""


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_NUMBER.sub(" ", text)))
