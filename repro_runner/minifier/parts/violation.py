"""Does an op of the traced graphs still break the rule?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.fx import GraphModule, Node

from repro_runner.minifier.parts.tracing import named, traced


def check_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[Node], Iterator[str]],
    *,
    graph: str,
    op: str,
) -> tuple[int, str]:
    whole = traced(function, inputs()).get(graph)
    parts = [part for part in whole.modules() if isinstance(part, GraphModule)] if whole is not None else []
    for node in (node for part in parts for node in part.graph.nodes if named(node) == op):
        for complaint in complaints(node):
            return 1, f"{op} of the {graph} graph: {complaint}"
    return 0, f"no {op} of the {graph} graph breaks the rule"
