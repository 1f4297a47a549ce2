"""Does an input of the traced graphs still break the rule?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.fx import Node

from repro_runner.minifier.parts.tracing import traced


def check_input_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[Node], Iterator[str]],
    *,
    graph: str,
) -> tuple[int, str]:
    graphs = traced(function, inputs())
    # What the backward takes over from the forward is the forward's.
    others = {node.name for node in graphs["forward"].graph.nodes} if graph == "backward" else set()
    for node in graphs[graph].graph.nodes if graph in graphs else ():
        for complaint in complaints(node) if node.op == "placeholder" and node.name not in others else ():
            return 1, f"an input of the {graph} graph: {complaint}"
    return 0, f"no input of the {graph} graph breaks the rule"
