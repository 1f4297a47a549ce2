"""Look at both arms of a branch on a tensor while the program runs: would torch.where do the same?"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from repro_runner.explain.running import run_program
from repro_runner.fix_report.job import program_of, without_compiler
from repro_runner.fix_report.patches.branches import PROBE
from repro_runner.fix_report.trial_sources import substituted


@dataclass(slots=True)
class Seen:
    """Of one branch."""

    calls: int = 0
    problem: str = ""
    """Why torch.where would not do the same."""
    gradients: bool = False
    """Whether gradients flow through it."""


def probe(job: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Run the program without the compiler, with other text in its file: what was seen, by the number of the branch.

    To be run in a fork of its own.
    """
    seen: dict[int, Seen] = {}
    setattr(builtins, PROBE, lambda number, *parts: look(seen.setdefault(number, Seen()), *parts))
    with without_compiler(), substituted({job["file"]: job["text"]}):
        run_program(program_of(job))
    return {number: asdict(one) for number, one in seen.items()}


def look(
    seen: Seen,
    condition: Callable[[], Any],
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    tensors: Callable[[], tuple[Any, ...]],
) -> Any:
    """What the branch gives; on the way, the other arm is computed, too, and compared."""
    seen.calls += 1
    chosen = condition()
    first, second = (then, otherwise) if chosen else (otherwise, then)
    taken = first()
    seen.problem = seen.problem or _problem(chosen, taken, second, tensors)
    if isinstance(taken, torch.Tensor):
        seen.gradients |= taken.requires_grad
    return taken


def _problem(chosen: Any, taken: Any, second: Callable[[], Any], tensors: Callable[[], tuple[Any, ...]]) -> str:
    if not isinstance(chosen, torch.Tensor) or chosen.dtype is not torch.bool:
        return f"its condition is a {type(chosen).__name__}, not a tensor of truth values"
    try:
        other = second()
    except Exception as error:  # noqa: BLE001 - the branch may have been there to avoid just this
        return f"the arm that is not taken raises {type(error).__name__}"
    for arm in (taken, other):
        if type(arm) not in (torch.Tensor, torch.nn.Parameter):
            return f"an arm gives a {type(arm).__name__}, not a tensor"
    for name in ("dtype", "shape", "device", "requires_grad"):
        if (one := getattr(taken, name)) != (two := getattr(other, name)):
            return f"its arms differ in {name}: {one} and {two}"
    if taken.stride() != other.stride():
        return f"its arms differ in strides: {taken.stride()} and {other.stride()}"
    if chosen.dim() > taken.dim():
        return "its condition has more dimensions than its arms, and torch.where would give them to its result"
    if other.requires_grad and not _has_finite_gradients(other, tensors()):
        return "the arm that is not taken has a gradient that is not finite, and torch.where would hand it on"
    return ""


def _has_finite_gradients(other: torch.Tensor, tensors: tuple[Any, ...]) -> bool:
    wanted = [each for each in tensors if isinstance(each, torch.Tensor) and each.requires_grad]
    if not wanted:
        return True
    found = torch.autograd.grad(other.sum(), wanted, retain_graph=True, allow_unused=True)
    return all(bool(torch.isfinite(each).all()) for each in found if each is not None)
