"""How long a call takes, by torch's own timer, which waits for the GPU before it looks at the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.benchmark import Timer
from torch.utils.benchmark.utils.timer import timer as wall_clock

from repro_runner.bench.spread import Spread, rounded, spread

CPU_TIME, WALL_TIME = "CPU time", "wall time"
_AT_LEAST_S = 0.2
"""Shorter, and a call of microseconds would be measured by a handful of blocks."""


def timer_of(call: Callable[[], Any], device: str) -> Timer:
    """With as many threads as torch has by itself: the timer's own default is one."""
    clock = time.process_time if clock_of(device) == CPU_TIME else wall_clock
    return Timer(stmt="call()", timer=clock, globals={"call": call}, num_threads=torch.get_num_threads())


def clock_of(device: str) -> str:
    """What a time is made of. One thread on a CPU is never waited for, so its own time tells more than the clock on the
    wall, which also counts what other programs do meanwhile."""
    return CPU_TIME if device == "cpu" and torch.get_num_threads() == 1 else WALL_TIME


def first_call(call: Callable[[], Any], device: str) -> float:
    """Seconds that the first call takes, the compilation in it included."""
    started = time.perf_counter()
    call()
    if device == "cuda":
        torch.cuda.synchronize()
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
