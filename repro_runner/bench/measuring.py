"""How one call of a model is measured: its time, its memory, and what a compiler did for it."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import Timer

from repro_runner.backends import collect_violations
from repro_runner.bench.document import Spread
from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.constraints import Violation
from repro_runner.torch_seams import dynamo_utils

CPU_TIME, WALL_TIME = "CPU time", "wall time"
_AT_LEAST_S = 0.2
"""In less time a call of microseconds would be measured a few times only."""
_DIGITS = 5
_PROCESS = Path("/proc/self")
_RESET_PEAK = "5"
"""What Linux wants written to clear_refs to forget the highest resident size there was."""


def spread(values: Sequence[float]) -> Spread:
    """Median, quartiles, minimum and count, rounded to significant digits."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {
        "median": rounded(median),
        "low": rounded(low),
        "high": rounded(high),
        "min": rounded(min(values)),
        "runs": len(values),
    }


def rounded(value: float) -> float:
    """To a few significant digits; more would be noise."""
    return float(f"{value:.{_DIGITS}g}")


def synchronize(device: str) -> None:
    """Wait for everything that the device has been given to do."""
    wait = getattr(torch.get_device_module(device), "synchronize", None)  # somebody's own module may lack it
    if wait is not None:
        wait()


def timer_of(call: Callable[[], Any], device: str) -> Timer:
    """torch's own timer, with a clock that waits for the device before it is looked at.

    It has as many threads as torch has by itself: the timer's own default is one.
    """

    def wall_clock() -> float:
        synchronize(device)
        return time.perf_counter()

    clock = time.process_time if clock_of(device) == CPU_TIME else wall_clock
    return Timer(stmt="call()", timer=clock, globals={"call": call}, num_threads=torch.get_num_threads())


def clock_of(device: str) -> str:
    """Which clock is used. One thread on a CPU never waits, so its CPU time is better than wall time, which also counts
    what other programs do meanwhile."""
    return CPU_TIME if device == "cpu" and torch.get_num_threads() == 1 else WALL_TIME


def first_call(call: Callable[[], Any], device: str) -> float:
    """Seconds that the first call takes, the compilation in it included."""
    started = time.perf_counter()
    call()
    synchronize(device)
    return rounded(time.perf_counter() - started)


def latency(call: Callable[[], Any], device: str, *, warmup: int, runs: int) -> Spread:
    """Seconds per call in at least `runs` measurements, after `warmup` calls that don't count."""
    for _ in range(warmup):
        call()
    timer = timer_of(call, device)
    at_least = max(runs * timer.timeit(1).median, _AT_LEAST_S)
    times: list[float] = []
    while len(times) < runs:  # a block of many short calls is one measurement
        times += timer.blocked_autorange(min_run_time=at_least).times
    return spread(times)


def best_time(call: Callable[[], Any], device: str) -> float:
    """Seconds of the fastest of some calls, after one that does not count."""
    call()
    return float(min(timer_of(call, device).blocked_autorange(min_run_time=_AT_LEAST_S).times))


class PeakMemory:
    """How much memory a model takes while it is called. Made before the first call, asked after the last.

    On a GPU it is the most that torch's allocator held, weights included. A CPU has no such count: there it is how far
    the process's resident memory rose above what it was with the model made and never called, what the compiler keeps
    included.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._before = _resident("VmRSS")

    def of(self, call: Callable[[], Any]) -> int | None:
        """Bytes; None if the system, or the device's module, does not report them."""
        if torch.device(self._device).type != "cpu":
            allocator: Any = torch.get_device_module(self._device)
            if not hasattr(allocator, "max_memory_allocated") or not hasattr(allocator, "reset_peak_memory_stats"):
                return None
            synchronize(self._device)
            allocator.reset_peak_memory_stats()
            call()
            synchronize(self._device)
            return int(allocator.max_memory_allocated())
        try:
            (_PROCESS / "clear_refs").write_text(_RESET_PEAK)
        except OSError:
            return None
        call()
        peak = _resident("VmHWM")
        return None if peak is None or self._before is None else max(0, peak - self._before)


def _resident(field: str) -> int | None:
    try:
        status = (_PROCESS / "status").read_text()
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


@dataclass(slots=True)
class Compilation:
    """What a compiler did, known once `watch_compilation` ends."""

    graphs: int = 0
    breaks: list[CapturedBreak] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    @property
    def break_ids(self) -> list[str]:
        return sorted({each.gb_id for each in self.breaks})

    @property
    def break_count(self) -> int:
        return sum(each.count for each in self.breaks)


@contextmanager
def watch_compilation() -> Iterator[Compilation]:
    """Count graphs, breaks that happened and violations of whatever is compiled meanwhile."""
    found = Compilation()
    stats = dynamo_utils.counters["stats"]
    before = stats["unique_graphs"]
    with capture_breaks() as breaks, collect_violations() as violations:
        yield found
    found.graphs = dynamo_utils.counters["stats"]["unique_graphs"] - before
    found.breaks = [each for each in breaks if each.happened]
    found.violations = list(violations)
