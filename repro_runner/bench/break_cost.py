"""What a break costs: one block with more and more breaks, eager and compiled, measured in turns.

The block has the same layers and computes the same numbers, however many breaks there are. The speed of a machine
varies, so times of different minutes can't be compared. In a round every variant is measured once, in an order of its
own; ratios are made within a round, and the spread is that of the ratios.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.benchmark import Timer

from repro_runner.bench.catalogue import Measurement
from repro_runner.bench.document import Curve, CurvePoint, Spread
from repro_runner.bench.measuring import clock_of, spread, timer_of, watch_compilation
from repro_runner.torch_seams import reset

BREAKS = (0, 1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape:
    """So many layers, each `x + relu(linear(norm(x)))`, on a matrix of `rows` × `width`."""

    name: str
    layers: int
    width: int
    rows: int


SHAPES = {
    ("full", "cpu"): (
        BlockShape(name="small", layers=32, width=64, rows=32),
        BlockShape(name="large", layers=32, width=512, rows=128),
    ),
    ("full", "cuda"): (
        BlockShape(name="small", layers=32, width=64, rows=32),
        BlockShape(name="large", layers=32, width=2048, rows=4096),
    ),
    ("tiny", "cpu"): (BlockShape(name="tiny", layers=2, width=8, rows=4),),
    ("tiny", "cuda"): (BlockShape(name="tiny", layers=2, width=8, rows=4),),
}
"""(size, device) -> a block in which a break is much of the work, and one in which it is little."""


class _Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.relu(self.linear(self.norm(x)))


def make_layers(shape: BlockShape) -> nn.ModuleList:
    """The layers that all variants of a block share."""
    return nn.ModuleList(_Layer(shape.width) for _ in range(shape.layers)).eval()


def block_with_breaks(layers: nn.ModuleList, breaks: int) -> Callable[[Tensor], Tensor]:
    """A function of its own, with so many breaks spread evenly between the layers.

    It is written out line by line: with a break inside a loop Dynamo would give up the whole loop.
    """
    after = break_places(len(layers), breaks)
    lines = ["def block(x):"]
    for place in range(len(layers)):
        lines.append(f"    x = layers[{place}](x)")
        if place + 1 in after:
            lines.append("    torch._dynamo.graph_break()")
    lines.append("    return x")
    names: dict[str, Any] = {"layers": layers, "torch": torch}
    # A file name of its own: code that is equal, name included, would be the same code to Dynamo.
    exec(compile("\n".join(lines), f"<block {id(layers)} with {breaks} breaks>", "exec"), names)
    block: Callable[[Tensor], Tensor] = names["block"]
    return block


def break_places(layers: int, breaks: int) -> frozenset[int]:
    """After how many layers a break comes."""
    return frozenset(round(layers * (at + 1) / (breaks + 1)) for at in range(breaks))


Variant = tuple[str, int]
"""(eager or inductor, how many breaks)."""
Round = Mapping[Variant, float]
"""Seconds per call of every variant, measured one after the other."""

WITHOUT = ("inductor", 0)
_TURN_S = 0.01
"""The shortest turn, in seconds: a shorter one would measure the clock."""


def measure_break_cost(measurement: Measurement) -> list[Curve]:
    """A curve for each shape of the block."""
    torch.manual_seed(0)
    with torch.no_grad():
        kind = "cpu" if torch.device(measurement.device).type == "cpu" else "cuda"
        return [_curve(shape, measurement) for shape in SHAPES[measurement.size, kind]]


def _curve(shape: BlockShape, measurement: Measurement) -> Curve:
    reset()
    device = measurement.device
    layers = make_layers(shape).to(device)  # `with torch.device(…)` would slow every call that is measured
    x = torch.randn(shape.rows, shape.width, device=device)
    breaks = [count for count in BREAKS if count < shape.layers]
    blocks = {count: block_with_breaks(layers, count) for count in breaks}
    calls: dict[Variant, Callable[[], Tensor]] = {}
    graphs = {}
    for count, block in blocks.items():
        compiled = torch.compile(block, backend="inductor")
        with watch_compilation() as compilation:
            torch.testing.assert_close(compiled(x), block(x), rtol=1e-3, atol=1e-3)
        graphs[count] = compilation.graphs
        if compilation.graphs != count + 1:
            raise RuntimeError(f"{count} breaks gave {compilation.graphs} graphs: torch gave up on the block")
        calls["eager", count] = _call(block, x)
        calls["inductor", count] = _call(compiled, x)
    rounds = _rounds({variant: timer_of(call, device) for variant, call in calls.items()}, measurement)
    return {
        "block": {**asdict(shape), "dtype": str(x.dtype).removeprefix("torch.")},
        "threads": torch.get_num_threads(),
        "clock": clock_of(device),
        "rounds": measurement.runs,
        "points": [_point(count, graphs[count], rounds) for count in breaks],
    }


def _call(block: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], Tensor]:
    return lambda: block(x)


def _rounds(timers: Mapping[Variant, Timer], measurement: Measurement) -> list[Round]:
    turns = {
        variant: max(1, round(_TURN_S / timer.timeit(max(1, measurement.warmup)).median))
        for variant, timer in timers.items()
    }
    order = list(timers)
    rounds: list[Round] = []
    for seed in range(measurement.runs):
        random.Random(seed).shuffle(order)
        rounds.append({variant: timers[variant].timeit(turns[variant]).median for variant in order})
    return rounds


def _point(breaks: int, graphs: int, rounds: list[Round]) -> CurvePoint:
    return {
        "breaks": breaks,
        "graphs": graphs,
        "eager": _times("eager", breaks, rounds),
        "inductor": _times("inductor", breaks, rounds),
        "of_eager": spread([times["inductor", breaks] / times["eager", breaks] for times in rounds]),
        "added_per_break_s": _added(breaks, rounds),
    }


def _times(way: str, breaks: int, rounds: list[Round]) -> dict[str, Spread]:
    return {
        "seconds": spread([times[way, breaks] for times in rounds]),
        "relative": spread([times[way, breaks] / times[WITHOUT] for times in rounds]),
    }


def _added(breaks: int, rounds: Iterable[Round]) -> Spread | None:
    if not breaks:
        return None
    return spread([(times["inductor", breaks] - times[WITHOUT]) / breaks for times in rounds])
