"""The life of a compiled function: what happens in each of its calls, recorded and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.graphs.drawing import (
    BETWEEN,
    BOX_HEIGHT,
    LEGEND,
    MARGIN,
    Box,
    Drawing,
    add_text,
    draw_box,
    draw_legend,
    finish,
    new_svg,
)
from repro_runner.output.units import counted

_COMPILED, _RAN, _PYTHON = "matmul", "pointwise", "other"
"""The classes in drawing.css."""
_LABELS = {_COMPILED: "compiling", _RAN: "a graph", _PYTHON: "Python"}
_WIDTH = 160
_FIRST = 70
"""The room for `call 12`."""


class Life:
    """Compiles functions, and records what becomes of their calls. It needs no times: the order of events is exact."""

    def __init__(self) -> None:
        self.calls: list[list[Box]] = []
        self._graphs = 0

    def compile(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """The function, compiled with these options of `torch.compile`."""
        compiled = torch.compile(function, backend=self._backend, **options)

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls.append([])
            result = compiled(*arguments, **named)
            if not self.calls[-1]:
                self._add(_PYTHON, "Python", "no graph")
            return result

        return call

    def _backend(self, graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        self._graphs += 1
        name = f"graph {self._graphs}"
        ops = counted(sum(node.op.startswith("call_") for node in graph.graph.nodes), "op")
        self._add(_COMPILED, f"{name} is compiled", ops)

        def run(*arguments: Any) -> Any:
            self._add(_RAN, f"{name} runs", ops)
            return graph(*arguments)

        return run

    def _add(self, kind: str, op: str, tensor: str) -> None:
        """Add an event to the present call. Between two graphs Python runs."""
        events = self.calls[-1]
        if events and events[-1].kind == _RAN:
            events.append(Box(kind=_PYTHON, op="Python", tensor="the code between"))
        events.append(Box(kind=kind, op=op, tensor=tensor))

    def draw(self, title: str) -> Drawing:
        """One row per call, from left to right."""
        step, row = _WIDTH + BETWEEN, BOX_HEIGHT + BETWEEN
        width = 2 * MARGIN + _FIRST + step * max(map(len, self.calls), default=0)
        svg = new_svg(title, width=width, height=2 * MARGIN + LEGEND + row * len(self.calls))
        draw_legend(svg, _LABELS)
        for number, events in enumerate(self.calls):
            top = MARGIN + LEGEND + row * number
            middle = f"{top + BOX_HEIGHT / 2 + 4:.0f}"
            add_text(svg, "text", f"call {number + 1}", {"x": str(MARGIN), "y": middle})
            for place, box in enumerate(events):
                draw_box(svg, box, MARGIN + _FIRST + step * place + _WIDTH / 2, top, width=_WIDTH)
        return finish(svg)
