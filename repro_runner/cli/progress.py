"""Show the progress of `graphbreak run`: a bar on a terminal, plain lines elsewhere, or JSON lines with --json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from registry.ids import id_of_program
from registry.model import HOLDS_FOR_WHAT_RAN
from repro_runner.output.units import minutes

if TYPE_CHECKING:
    from rich.progress import Progress

    from repro_runner.runner.machine import Finished


_ENOUGH = 20
"""Jobs after which the time left can be told."""


class Display(Protocol):
    """Shows when each job starts and ends."""

    def started(self, key: str) -> None:
        """Call this when a job, such as `GB0042/eager`, starts."""

    def ended(self, ended: Finished, problem: str) -> None:
        """Call this when a job ends. `problem` is empty if its result is good."""


@contextmanager
def progress(total: int, answers: TextIO, *, as_json: bool) -> Iterator[Display]:
    """The display that fits the output: JSON lines, a bar or plain lines."""
    if as_json:
        yield _JsonLines(answers)
        return
    if not sys.stderr.isatty():
        yield _Lines(total, answers)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    except ImportError:  # rich is not installed
        yield _Lines(total, answers)
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield _Bar(total, bar)


class _JsonLines:
    def __init__(self, answers: TextIO) -> None:
        self._answers = answers

    def started(self, key: str) -> None:
        pass

    def ended(self, ended: Finished, problem: str) -> None:
        named = {"gb_id": id_of_program(ended.program), "program": ended.program}
        line = {**named, "backend": ended.backend, "problem": problem, "levels": ended.levels, **ended.record}
        print(json.dumps(line), file=self._answers, flush=True)


class _Lines:
    def __init__(self, total: int, answers: TextIO) -> None:
        self._remaining, self._answers = total, answers
        self._done, self._began = 0, time.monotonic()

    def started(self, key: str) -> None:
        pass

    def ended(self, ended: Finished, problem: str) -> None:
        self._remaining -= 1
        self._done += 1
        each = (time.monotonic() - self._began) / self._done
        left = f", {minutes(each * self._remaining)}" if self._done >= _ENOUGH else ""
        print(f"{_line(ended, problem)} [{self._remaining} left{left}]", file=self._answers, flush=True)


class _Bar:
    """Prints only jobs with problems. All other jobs are counted in the bar."""

    def __init__(self, total: int, bar: Progress) -> None:
        self._bar, self._total = bar, total
        self._running: list[str] = []
        self._passed = self._failed = 0
        self._task = bar.add_task("starting", total=total)

    def started(self, key: str) -> None:
        self._running.append(key)
        self._show()

    def ended(self, ended: Finished, problem: str) -> None:
        self._running.remove(f"{ended.program}/{ended.backend}")
        if problem:
            self._failed += 1
            self._bar.console.print(_line(ended, problem), markup=False, highlight=False)
        else:
            self._passed += 1
        self._show()

    def _show(self) -> None:
        done = self._passed + self._failed
        counts = {
            "running": len(self._running),
            "passed": self._passed,
            "failed": self._failed,
            "remaining": self._total - done - len(self._running),
        }
        text = ", ".join(f"{count} {name}" for name, count in counts.items())
        self._bar.update(self._task, description=text, completed=done)


def _line(ended: Finished, problem: str) -> str:
    never = (f"{name} {HOLDS_FOR_WHAT_RAN}; never reached: {lines}" for name, lines in ended.never_reached.items())
    said = problem or ", ".join(never)
    return f"{ended.program} {ended.backend}: {ended.record['verdict']}{f' ({said})' if said else ''}"
