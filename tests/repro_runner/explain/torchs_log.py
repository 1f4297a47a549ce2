"""What torch's own log reports, read without any code of the project."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections import Counter
from collections.abc import Callable

from torch._guards import CompileContext

_AT = re.compile(r"in user code at (.+):([0-9]+)$", re.MULTILINE)
_FRAME = re.compile(r'^ *File "(.+)", line ([0-9]+)', re.MULTILINE)
_LINK = re.compile(r"/gb/(gb[0-9]+)")


class _Reports(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: set[tuple[object, ...]] = set()
        self.places: Counter[tuple[str, int]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a report. A compilation that starts again reports the same break again: that is one."""
        text = record.getMessage()
        named = _AT.search(text)
        file, line = named.groups() if named else _FRAME.findall(text)[-1]
        key = (file, line, threading.get_ident(), CompileContext.current_compile_id(), tuple(_LINK.findall(text)[:1]))
        if key not in self.seen:
            self.seen.add(key)
            self.places[file, int(line)] += 1


def places_in_log(run: Callable[[], object]) -> Counter[tuple[str, int]]:
    """Run it; (file, line) -> reports. What it raises is dropped."""
    reports = _Reports()
    loggers = [
        logging.getLogger(f"torch._dynamo.{name}.__graph_breaks") for name in ("symbolic_convert", "convert_frame")
    ]
    before = [(one, one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.setLevel(logging.DEBUG)
        one.propagate = False
        one.addHandler(reports)
    try:
        with contextlib.suppress(Exception):
            run()
    finally:
        for one, level, propagate in before:
            one.removeHandler(reports)
            one.setLevel(level)
            one.propagate = propagate
    return reports.places
