"""What flows back through a program: the gradient of each floating-point input and parameter."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import torch

from repro_runner.values import map_tensors, tensors_in, tolerance_of

Gradients = dict[str, torch.Tensor | None]
"""`inputs[0]`, or `layer.weight`: a name of the program's module. None if the result does not depend on it."""

NO_INPUT = "no floating-point input"
NO_GRAD_FN = "no result has a gradient in eager"
EAGER_RAISES = "eager raises an error when inputs require grad"
NOT_COMPARED = (NO_INPUT, NO_GRAD_FN, EAGER_RAISES)
"""Every reason for which gradients are not compared. A program can't give one: it follows from a run."""


class NoInput(Exception):
    """Nothing that goes into a program has a gradient."""


def set_seed(seed: int) -> None:
    """Seed every generator of random numbers that a program may use."""
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed % 2**32)
    if torch.cuda.is_available():
        torch.manual_seed(seed)
    else:  # as that does, but it also writes down three stacks, for devices that may come later
        torch.default_generator.manual_seed(seed)


def gradients_of(
    module: ModuleType, function: Callable[..., Any], given: tuple[Any, ...], *, leaf: bool, seed: int
) -> tuple[Gradients, float]:
    """Call a function with inputs that require grad, and send a fixed gradient back through all that it returns.

    Inputs are what they mostly are in a model: results of an earlier operation, which may be changed in place. `leaf`
    gives the function leaves. Returns (gradients, how much of their size they may lose on the way). Raises NoInput, and
    whatever the function raises.
    """
    leaves: dict[str, torch.Tensor] = {}

    def requiring(tensor: Any, place: str) -> Any:
        if isinstance(tensor, torch.nn.Module):
            leaves.update(_requiring(tensor.named_parameters(prefix=place)))
            return tensor
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            return tensor
        own = tensor if tensor.requires_grad else tensor.detach().clone().requires_grad_()
        leaves[place] = own
        return own if leaf or tensor.requires_grad else own.clone()

    given = map_tensors(given, requiring, "inputs")
    leaves |= dict(_parameters(module))
    if not leaves:
        raise NoInput
    begun = {id(tensor): tensor.grad_fn for tensor in tensors_in(given)}
    set_seed(seed)
    value = function(*given)
    changed = [tensor for tensor in tensors_in(given) if tensor.grad_fn is not begun.get(id(tensor))]
    ends = [tensor for tensor in (*tensors_in(value), *changed) if tensor.grad_fn is not None]
    if not ends:
        return dict.fromkeys(leaves), 0.0
    set_seed(0)
    total = sum(_weighed(tensor) for tensor in ends)
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)  # type: ignore[arg-type]
    plain = (one if one is None else one.as_subclass(torch.Tensor).clone() for one in found)
    return dict(zip(leaves, plain, strict=True)), _lost_on_the_way(ends)


def _lost_on_the_way(ends: Iterable[torch.Tensor]) -> float:
    """How much of its size a gradient may lose: every way back leads through half precision, as under autocast."""
    nodes, seen, halves = [tensor.grad_fn for tensor in ends], set(), set()
    while nodes:
        if (node := nodes.pop()) is None or node in seen:
            continue
        seen.add(node)
        half = {result.dtype for result in getattr(node, "_input_metadata", ())} & {torch.float16, torch.bfloat16}
        if not half and not node.next_functions:
            return 0.0  # a leaf: what flows there in full precision has to be as exact as that
        halves |= half
        nodes += [] if half else [before for before, _ in node.next_functions]
    return max((tolerance_of(dtype).rtol for dtype in halves), default=0.0)


def _parameters(module: ModuleType) -> Iterator[tuple[str, torch.Tensor]]:
    """The parameters that the module of a program holds, each once; they require grad from now on."""
    given: set[int] = set()
    for name, value in vars(module).items():
        held = value.named_parameters(prefix=name) if isinstance(value, torch.nn.Module) else [(name, value)]
        for place, one in _requiring(held):
            if id(one) not in given:
                given.add(id(one))
                yield place, one


def _requiring(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, torch.Tensor]]:
    for place, one in values:
        if isinstance(one, torch.nn.Parameter) and one.dtype.is_floating_point:
            yield place, one.requires_grad_()


def _weighed(tensor: torch.Tensor) -> torch.Tensor:
    """A number into which every element goes with a weight of its own, so that none hides another."""
    parts = torch.view_as_real(tensor) if tensor.dtype.is_complex else tensor
    return (parts * torch.randn(parts.shape, dtype=parts.dtype).to(parts.device)).sum()
