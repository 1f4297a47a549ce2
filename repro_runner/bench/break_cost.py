"""What a break costs: one block with more and more breaks, eager and compiled, measured in turns.

Machines have moods, so times of different minutes don't compare. In a round every variant is measured once, in an order
of its own; ratios are made within a round, and the spread is that of the ratios.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from repro_runner.bench.backends import watched
from repro_runner.bench.block import BREAKS, SHAPES, BlockShape, block_with_breaks, make_layers
from repro_runner.bench.job import Job
from repro_runner.bench.latency import clock_of, timer_of
from repro_runner.bench.spread import spread

Variant = tuple[str, int]
"""(eager or inductor, how many breaks)."""
Round = Mapping[Variant, float]
"""Seconds per call of every variant, measured one after the other."""

WITHOUT = ("inductor", 0)
_TURN_S = 0.01
"""A turn lasts at least so long: a shorter one would measure the clock."""


def measure_break_cost(job: Job) -> dict[str, Any]:
    """A curve for each shape of the block."""
    torch.manual_seed(0)
    with torch.no_grad():
        return {"curves": [_curve(shape, job) for shape in SHAPES[job.size, job.device]]}


def _curve(shape: BlockShape, job: Job) -> dict[str, Any]:
    torch._dynamo.reset()
    layers = make_layers(shape).to(job.device)  # `with torch.device(…)` would slow every call that is measured
    x = torch.randn(shape.rows, shape.width, device=job.device)
    breaks = [count for count in BREAKS if count < shape.layers]
    blocks = {count: block_with_breaks(layers, count) for count in breaks}
    calls: dict[Variant, Callable[[], Tensor]] = {}
    graphs = {}
    for count, block in blocks.items():
        compiled = torch.compile(block, backend="inductor")
        with watched() as compilation:
            torch.testing.assert_close(compiled(x), block(x), rtol=1e-3, atol=1e-3)
        graphs[count] = compilation.graphs
        if compilation.graphs != count + 1:
            raise RuntimeError(f"{count} breaks gave {compilation.graphs} graphs: torch gave up on the block")
        calls["eager", count] = _call(block, x)
        calls["inductor", count] = _call(compiled, x)
    rounds = _rounds({variant: timer_of(call, job.device) for variant, call in calls.items()}, job)
    return {
        "block": {**asdict(shape), "dtype": str(x.dtype).removeprefix("torch.")},
        "threads": torch.get_num_threads(),
        "clock": clock_of(job.device),
        "rounds": job.runs,
        "points": [_point(count, graphs[count], rounds) for count in breaks],
    }


def _call(block: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], Tensor]:
    return lambda: block(x)


def _rounds(timers: Mapping[Variant, Timer], job: Job) -> list[Round]:
    turns = {
        variant: max(1, round(_TURN_S / timer.timeit(max(1, job.warmup)).median)) for variant, timer in timers.items()
    }
    order = list(timers)
    rounds: list[Round] = []
    for seed in range(job.runs):
        random.Random(seed).shuffle(order)
        rounds.append({variant: timers[variant].timeit(turns[variant]).median for variant in order})
    return rounds


def _point(breaks: int, graphs: int, rounds: list[Round]) -> dict[str, Any]:
    point: dict[str, Any] = {"breaks": breaks, "graphs": graphs}
    for way in ("eager", "inductor"):
        point[way] = {
            "seconds": spread([times[way, breaks] for times in rounds]),
            "relative": spread([times[way, breaks] / times[WITHOUT] for times in rounds]),
        }
    point["of_eager"] = spread([times["inductor", breaks] / times["eager", breaks] for times in rounds])
    point["added_per_break_s"] = _added(breaks, rounds)
    return point


def _added(breaks: int, rounds: Iterable[Round]) -> dict[str, float] | None:
    if not breaks:
        return None
    return spread([(times["inductor", breaks] - times[WITHOUT]) / breaks for times in rounds])
