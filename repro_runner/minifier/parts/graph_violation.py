"""Does a traced graph, as a whole, still break the rule?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.fx import GraphModule

from repro_runner.minifier.parts.tracing import traced


def check_graph_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[GraphModule, GraphModule], Iterator[str]],
    *,
    graph: str,
) -> tuple[int, str]:
    graphs = traced(function, inputs())
    for complaint in complaints(graphs[graph], graphs["forward"]) if graph in graphs else ():
        return 1, f"the {graph} graph: {complaint}"
    return 0, f"the {graph} graph does not break the rule"
