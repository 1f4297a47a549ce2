"""Breaks under fullgraph=True, inside a higher-order op, and a graph with no break that is compiled again."""

import contextlib
from typing import Any

import torch


def whole(x: torch.Tensor) -> torch.Tensor:
    return x + torch.tensor(x.tolist())


def inside(flag: torch.Tensor, x: torch.Tensor) -> Any:
    def noisy(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    return torch.cond(flag, noisy, lambda x: x - 1, (x,))


def grow(x: torch.Tensor, factor: int) -> torch.Tensor:
    return x * factor


if __name__ == "__main__":
    programs: tuple[Any, ...] = ((whole, (torch.ones(3),)), (inside, (torch.tensor(True), torch.ones(3))))
    for function, arguments in programs:
        with contextlib.suppress(Exception):
            torch.compile(function, backend="eager", fullgraph=function is whole)(*arguments)  # type: ignore[no-untyped-call]
    compiled = torch.compile(grow, backend="eager", dynamic=False)
    for factor in (2, 3):
        compiled(torch.ones(4), factor)
    compiled(torch.ones(5), 3)
