"""Exceptions that a program prints and survives, chained to its own: python chained.py"""

from __future__ import annotations

import traceback

import torch


def step(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def wrong(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x, 1, 2, ())  # type: ignore[arg-type, no-any-return]


if __name__ == "__main__":
    compiled = torch.compile(step, backend="eager", fullgraph=True)
    for _ in range(2):
        try:
            try:
                compiled(torch.ones(4))
            except RuntimeError as error:
                raise ValueError("the step failed") from error
        except ValueError:
            traceback.print_exc()
    try:
        try:
            compiled(torch.ones(4))
        except torch._dynamo.exc.Unsupported as error:
            raise torch._dynamo.exc.Unsupported(str(error), error.gb_type or "") from error
    except RuntimeError:
        traceback.print_exc()
    try:
        torch.compile(wrong, backend="eager")(torch.ones(1) > 0)
    except RuntimeError:
        traceback.print_exc()
