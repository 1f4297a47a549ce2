"""Cut the repros of a fix report down with the minifier's reduction, within limits of time."""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_runner.minifier.breaks.minify_break import BreakToKeep, cut_down
from repro_runner.minifier.breaks.program import parse_program
from repro_runner.minifier.breaks.still_breaks import ENDS, INPUTS_MATTER, RETURNS
from repro_runner.minifier.result import NotMinified
from repro_runner.minifier.script import Script
from repro_runner.minifier.script_runners import InChild
from repro_runner.process import Limits

_SECONDS_PER_TRIAL = 10.0
"""A program that was cut down too far may run for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The code of a repro after it was cut down, and a sentence if that was not done to the end."""

    code: str
    stopped: str = ""


class Cutter:
    """Cuts programs down, each for at most `each` seconds, and all for at most `in_all`."""

    def __init__(self, *, each: float, in_all: float) -> None:
        self._each, self._in_all = each, in_all
        self._left = in_all
        self._open = ExitStack()

    def __enter__(self) -> Cutter:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @functools.cached_property
    def _runner(self) -> InChild:
        """Started for the first program. The time that this takes does not count."""
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="graphbreak-cutting-"))
        runner = self._open.enter_context(InChild(Path(folder), Limits(seconds=_SECONDS_PER_TRIAL)))
        runner.outcome(Script(text="", saved={}))  # this imports torch
        return runner

    def cut(self, program: Mapping[str, Any], gb_ids: Sequence[str], *, fatal: bool) -> Cut:
        """Cut a program down as long as all these breaks happen. What can't be cut down is returned as it is."""
        code = program["code"]
        if self._left <= 0:
            used_up = f"the {self._in_all:g} s for all repros were used up"
            return Cut(code=code, stopped=f"It was not cut down, since {used_up}.")
        kept = BreakToKeep(
            gb_ids=gb_ids, fullgraph=(fatal,), settings=program["settings"], demands=(INPUTS_MATTER, RETURNS, ENDS)
        )
        allowed = min(self._each, self._left)
        try:
            runner, began = self._runner, time.monotonic()
            smallest, _ = cut_down(parse_program(code), kept, runner, most=sys.maxsize, until=began + allowed)
        except NotMinified as error:
            return Cut(code=code, stopped=f"It was not cut down: {error}")
        took = time.monotonic() - began
        self._left -= took
        if smallest is None:
            return Cut(code=code)
        over = f"Cutting it down was stopped after {allowed:.3g} s; it may get smaller." if took > allowed else ""
        return Cut(code=smallest.code(), stopped=over)
