"""Does the backend still compute something else than eager?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from repro_runner.minifier.parts.running import results


def in_float64(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """What comes nearest to the truth; nothing, if the program insists on its dtypes."""
    wide = [each.double() if each.is_floating_point() else each for each in (each.detach() for each in arguments)]
    try:
        return results(
            function,
            tuple(each.requires_grad_(own.requires_grad) for each, own in zip(wide, arguments, strict=True)),
        )
    except Exception:  # noqa: BLE001 - any op may refuse
        return {}


def is_rounding(eager: torch.Tensor, compiled: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether eager, itself near to the truth, is hardly nearer to it than the backend."""
    if eager.shape != compiled.shape or eager.dtype != compiled.dtype or not exact.is_floating_point():
        return False
    own, off = ((each.double() - exact).abs().max() for each in (eager, compiled))
    return bool(off <= 10 * own and own <= 0.05 * exact.abs().max())


def difference(
    eager: Mapping[str, torch.Tensor], compiled: Mapping[str, torch.Tensor], exact: Mapping[str, torch.Tensor]
) -> str:
    """The first tensor that is not close, in words; empty when all are, but for rounding."""
    for name, expected in eager.items():
        try:
            torch.testing.assert_close(compiled[name], expected, equal_nan=True)
        except (AssertionError, KeyError) as error:
            if not (name in exact and name in compiled and is_rounding(expected, compiled[name], exact[name])):
                return f"{name}: " + "; ".join(line for line in str(error).splitlines() if line)
    return ""


def check_numerics(
    function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], backend: Callable[[], Any]
) -> tuple[int, str]:
    eager = results(function, inputs())
    if unstable := difference(eager, results(function, inputs()), {}):
        return 3, f"eager itself differs from run to run: {unstable}"
    compiled = results(torch.compile(function, backend=backend(), fullgraph=True, dynamic=False), inputs())
    found = difference(eager, compiled, in_float64(function, inputs()))
    return (1, found) if found else (0, "the same as eager, but for rounding")
