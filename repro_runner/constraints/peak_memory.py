"""How much memory a forward or a backward may need at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from torch.fx import GraphModule

from repro_runner.constraints.base import GraphConstraint, Violation
from repro_runner.constraints.liveness import LiveStorage, estimate_peak
from repro_runner.constraints.nodes import op_name, source_line, tensors_of

_SHOWN = 3


class PeakMemoryConstraint(GraphConstraint):
    """A forward, and a backward, needs at most `max_bytes` at once, as `estimate_peak` estimates it."""

    rule: ClassVar[str] = "peak-memory"

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes={max_bytes}: must not be negative")
        self.max_bytes = max_bytes

    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:
        peak = estimate_peak(graph)
        if peak.bytes > self.max_bytes:
            largest = "; ".join(map(_described, peak.live[:_SHOWN]))
            yield self.violation(
                peak.at,
                f"the peak is {peak.bytes} bytes here, more than {self.max_bytes}; "
                f"{len(peak.live)} tensors are live, the largest: {largest}",
            )


def _described(live: LiveStorage) -> str:
    """`mm float32[4, 3] 48 bytes (model.py:7)`."""
    tensor = next(tensors_of(live.maker), None)
    what = live.maker.name if live.maker.op == "placeholder" else op_name(live.maker)
    source = source_line(live.maker)
    shown = "" if tensor is None else f" {tensor}"
    return f"{what}{shown} {live.bytes} bytes{f' ({source})' if source else ''}"
