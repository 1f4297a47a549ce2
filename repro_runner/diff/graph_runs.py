"""Run a graph from the state in which the model ran it: its inputs, its random numbers, and on request a backward."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.execution import run_backward
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
        """Copies that a graph may write to, and by position the leaves that will have gradients."""
        values = copy.deepcopy(self._values)
        leaves = {place: value.requires_grad_() for place, value in enumerate(values) if self._requires_grad[place]}
        with torch.enable_grad():
            for place, leaf in leaves.items():
                if not self._is_leaf[place]:  # an in-place write is allowed to a computed tensor, not to a leaf
                    values[place] = leaf.clone()
        return values, leaves

    def with_leaves(self, more: Sequence[Tensor]) -> GraphInputs:
        """These inputs, and further ones that require gradients."""
        extended = copy.copy(self)
        extended._values = [*self._values, *more]
        extended._requires_grad = [*self._requires_grad, *(True for _ in more)]
        extended._is_leaf = [*self._is_leaf, *(True for _ in more)]
        return extended

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> Any:
        return self._values[place]

    def requires_grad(self, place: int) -> bool:
        return self._requires_grad[place]

    def plain(self) -> list[Any]:
        """Copies without gradients."""
        return copy.deepcopy(self._values)

    def restore_random(self) -> None:
        torch.set_rng_state(self._random)
        if self._cuda_random:
            torch.cuda.set_rng_state_all(self._cuda_random)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRun:
    """What a graph left: what it returned, its inputs after the call, and the gradients of those that require one."""

    returned: list[Any]
    inputs: Flat
    gradients: Flat
    weights: Mapping[int, Tensor]
    """By output, the gradient with which the backward began."""

    def input(self, place: int) -> Any:
        """As it is after the call; None if it is no tensor."""
        return self.inputs.get((f"input {place}",))

    def gradient_of(self, place: int) -> Tensor | None:
        """Of an input that requires one."""
        return self.gradients[_gradient_of(place),]  # type: ignore[no-any-return]

    def with_writes(self, outputs: int, written: Sequence[int]) -> GraphRun:
        """As if the values after the first outputs had been written to these inputs."""
        values: Flat = {(f"input {at}",): value for at, value in zip(written, self.returned[outputs:], strict=True)}
        return replace(self, returned=self.returned[:outputs], inputs={**self.inputs, **values})

    @property
    def names_of_gradients(self) -> set[str]:
        return {name for (name,) in self.gradients}

    def flat(self, outputs: int) -> Flat:
        """The first outputs, the inputs and the gradients by name."""
        named: Flat = {(f"output {place}",): _plain(value) for place, value in enumerate(self.returned[:outputs])}
        return {**named, **self.inputs, **self.gradients}


def run_graph(call: Callable[..., Any], inputs: GraphInputs, *, gradients: bool, weighted: int) -> GraphRun:
    """Call a graph, or what a backend made of it; with `gradients`, run a backward from its outputs. Those after the
    first `weighted` count for nothing in it."""
    arguments, leaves = inputs.fresh()
    inputs.restore_random()
    with torch.set_grad_enabled(torch.is_grad_enabled()):  # the graph may set it, and not set it back
        returned = list(call(*arguments))
    after: Flat = {
        (f"input {place}",): value.detach() for place, value in enumerate(arguments) if isinstance(value, Tensor)
    }
    weights = run_backward(returned, weighted=weighted) if gradients else {}
    grads: Flat = {(_gradient_of(place),): leaf.grad for place, leaf in leaves.items()} if gradients else {}
    return GraphRun(returned=returned, inputs=after, gradients=grads, weights=weights)


def _gradient_of(place: int) -> str:
    return f"gradient of input {place}"


def _plain(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
