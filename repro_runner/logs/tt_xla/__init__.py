"""Logs of tt-xla: graphs by their vhlo headers, the stages of each, its source lines, and what split it."""

from repro_runner.logs.tt_xla.part import NAME
from repro_runner.logs.tt_xla.reading import open_reader, recognise

__all__ = ["NAME", "open_reader", "recognise"]
