"""How many graphs some calls take, and what each assumes of shapes: to see that a backend adds nothing to either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.matmul(x, w).relu(), x[:, 1:]], dim=1).transpose(0, 1).reshape(-1)


def traced_with(
    backend: Callable[..., Any], dynamic: bool | None, rows: Sequence[int] = (4, 5, 6, 15, 16)
) -> tuple[int, list[list[str]]]:
    """How many graphs these shapes took, and each graph's symbols, guards and replaced symbols."""
    environments: list[list[str]] = []

    def watching(graph: GraphModule, inputs: list[Any]) -> Any:
        compiled = backend(graph, inputs)
        context = torch._guards.TracingContext.get()
        assert context.fake_mode is not None
        shapes = context.fake_mode.shape_env
        assert shapes is not None
        guards = [str(guard.expr) for guard in shapes.guards]
        environments.append([*map(str, shapes.var_to_range), *guards, *map(str, shapes.replacements.items())])
        return compiled

    torch._dynamo.reset()
    compiled = torch.compile(program, backend=watching, dynamic=dynamic, fullgraph=True)
    for count in rows:
        x = torch.randn(count, count + 2, requires_grad=True)
        answer = compiled(x, torch.randn(count + 2, 3))
        torch.autograd.grad(answer.sum(), x)
    return len(environments), environments
