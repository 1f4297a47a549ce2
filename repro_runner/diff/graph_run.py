"""Run one graph again and again from the state in which the model ran it: inputs, random numbers, gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.execution import random_like
from repro_runner.values import Flat


class GraphInputs:
    """What a graph was called with. Tensors that share memory do so in each copy, too."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self._requires_grad = [isinstance(value, Tensor) and value.requires_grad for value in inputs]
        self._is_leaf = [isinstance(value, Tensor) and value.is_leaf for value in inputs]
        self._values = copy.deepcopy([value.detach() if isinstance(value, Tensor) else value for value in inputs])
        self._random = torch.get_rng_state()
        self._cuda_random = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []

    def fresh(self) -> tuple[list[Any], dict[int, Tensor]]:
        """Copies that a graph may write to, and by their place the leaves in which gradients will be found."""
        values = copy.deepcopy(self._values)
        leaves = {place: value.requires_grad_() for place, value in enumerate(values) if self._requires_grad[place]}
        with torch.enable_grad():
            for place, leaf in leaves.items():
                if not self._is_leaf[place]:  # what was computed may be written to in place, which a leaf may not
                    values[place] = leaf.clone()
        return values, leaves

    def restore_random(self) -> None:
        torch.set_rng_state(self._random)
        if self._cuda_random:
            torch.cuda.set_rng_state_all(self._cuda_random)


def run_graph(
    call: Callable[..., Any], inputs: GraphInputs, names: Sequence[str], *, gradients: bool
) -> tuple[Flat, Flat]:
    """What it returns, by these names; and what it leaves behind: its inputs after the call, and their gradients."""
    arguments, leaves = inputs.fresh()
    inputs.restore_random()
    with torch.set_grad_enabled(torch.is_grad_enabled()):  # a prefix may end before the graph sets it back
        returned = list(call(*arguments))
    if gradients:
        _run_backward(returned)
    outputs: Flat = {
        (name, f"[{place}]"): value.detach() if isinstance(value, Tensor) else value
        for place, (name, value) in enumerate(zip(names, returned, strict=False))
    }
    effects: Flat = {
        (f"input {place}",): value.detach() for place, value in enumerate(arguments) if isinstance(value, Tensor)
    }
    if gradients:
        effects |= {(f"gradient of input {place}",): leaf.grad for place, leaf in leaves.items()}
    return outputs, effects


def _run_backward(returned: Sequence[Any]) -> None:
    tensors = [value for value in returned if isinstance(value, Tensor) and value.requires_grad]
    if tensors:
        generator = torch.Generator().manual_seed(0)
        torch.autograd.backward(tensors, [random_like(each, generator) for each in tensors])
