"""A second way to find breaks: the links in torch's logs and errors. It checks that the recorder missed no break."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from registry.ids import linked_ids
from registry.message_layout import GRAPH_BREAKS


@contextmanager
def logged_ids() -> Iterator[set[str]]:
    """Collect the ids in the links of torch's graph_breaks log. The log is not printed meanwhile."""
    found: set[str] = set()
    handler = _Collector(found)
    logger = logging.getLogger(f"torch._dynamo.symbolic_convert.{GRAPH_BREAKS}")
    others = [logging.getLogger(f"torch._dynamo.{name}.{GRAPH_BREAKS}") for name in ("convert_frame", "exc")]
    before = [(one, one.level, one.propagate, list(one.handlers)) for one in (logger, *others)]
    for one, *_ in before:
        one.setLevel(logging.DEBUG)
        one.propagate = False
        one.handlers = [handler]
    try:
        yield found
    finally:
        for one, level, propagate, handlers in before:
            one.setLevel(level)
            one.propagate = propagate
            one.handlers = handlers


class _Collector(logging.Handler):
    def __init__(self, found: set[str]) -> None:
        super().__init__(logging.DEBUG)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += logging.Formatter().formatException(record.exc_info)
        self._found.update(linked_ids(text))


def unnamed(found: set[str], captured: set[str]) -> str:
    """An error text with the ids that the log has and the capture does not; empty when none is missing."""
    missing = ", ".join(sorted(found - captured))
    return f"the log of torch {torch.__version__} names {missing}, which the capture did not see" if missing else ""
