"""What pytest makes of a break: python -m pytest -q checked.py"""

from __future__ import annotations

import torch


def step(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def test_step_compiles_whole() -> None:
    torch.compile(step, backend="eager", fullgraph=True)(torch.ones(4))
