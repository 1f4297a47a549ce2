"""Run a graph from the state in which the model ran it: its inputs, its random numbers, and on request a backward."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from repro_runner.diff.execution import memory_of, random_state, run_backward
from repro_runner.minifier.parts.backends import widened
from repro_runner.values import Flat, copies_of, is_strided, with_bits_of


class GraphInputs:
    """What a graph was called with. Tensors that share memory do so in each copy, too."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self._requires_grad = [isinstance(value, Tensor) and value.requires_grad for value in inputs]
        self._is_leaf = [isinstance(value, Tensor) and value.is_leaf for value in inputs]
        roots = _roots({at: value for at, value in enumerate(inputs) if self._requires_grad[at] and not value.is_leaf})
        copies = copies_of([*_tensors(inputs), *roots.values()])
        self._roots = {place: copies[id(root)].requires_grad_(False) for place, root in roots.items()}
        self._values = copy.deepcopy(list(inputs), copies)
        for value in _tensors(self._values):
            value.requires_grad_(False)
        self._random = torch.get_rng_state()
        self._cuda_random = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []

    def fresh(self) -> tuple[list[Any], dict[int, Tensor]]:
        """Copies that a graph may write to, and by position the leaves that will have gradients."""
        copies = copies_of([*_tensors(self._values), *self._roots.values()])
        values = copy.deepcopy(self._values, copies)
        leaves: dict[int, Tensor] = {}
        computed: dict[int, tuple[Tensor, Tensor]] = {}
        for place in (at for at, requires_grad in enumerate(self._requires_grad) if requires_grad):
            if self._is_leaf[place]:
                leaves[place] = values[place].requires_grad_()
                continue
            own = self._values[place]
            root = self._roots.get(place, own)
            if id(root) not in computed:
                computed[id(root)] = _computed(copies[id(root)])
            leaves[place], whole = computed[id(root)]
            values[place] = whole if root is own else _part(whole, own)
        return values, leaves

    def gradient(self, place: int, leaf: Tensor) -> Tensor | None:
        """What arrived at an input: of the gradient of its leaf, the part that belongs to it."""
        if leaf.grad is None or place not in self._roots:
            return leaf.grad
        root = self._roots[place]
        memory = leaf.grad.new_zeros(root.untyped_storage().nbytes() // root.itemsize)
        memory.as_strided(root.size(), root.stride(), root.storage_offset()).copy_(leaf.grad)
        return _part(memory, self._values[place])

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
        """Whether it has a gradient of its own, and not one together with other views of the same tensor."""
        return self._requires_grad[place] and place not in self._roots

    def plain(self) -> list[Any]:
        """Copies without gradients."""
        return copy.deepcopy(self._values, copies_of(_tensors(self._values)))

    def in_float64(self) -> GraphInputs | None:
        """The same in float64; None if some lie in one memory, which they would not do any more."""
        tensors = _tensors(self._values)
        memory = [place for place in map(memory_of, tensors) if place is not None]
        if self._roots or len(set(memory)) < len(memory):
            return None
        wide = copy.copy(self)
        wide._values = list(map(widened, self._values))
        return wide

    def restore_random(self) -> None:
        torch.set_rng_state(self._random)
        if self._cuda_random:
            torch.cuda.set_rng_state_all(self._cuda_random)


def _roots(computed: Mapping[int, Tensor]) -> dict[int, Tensor]:
    """By position, what several tensors are, or are a view of: a write to one of them changes the gradients of all."""
    bases = {place: value if value._base is None else value._base for place, value in computed.items()}
    views = Counter(map(id, bases.values()))
    return {
        place: base
        for place, base in bases.items()
        if views[id(base)] > 1 and is_strided(base) and base.dtype == computed[place].dtype
    }


def _computed(value: Tensor) -> tuple[Tensor, Tensor]:
    """(A leaf; what is computed from it, in the memory of the value): a graph can't write to a leaf."""
    leaf = value.detach().requires_grad_()
    with torch.enable_grad():
        if not is_strided(value):
            return leaf, leaf.clone()
        # Detached, since a lazy conjugate is a view: the gradient would go to what it is a view of.
        return leaf, _Computed.apply(leaf, value.detach())  # type: ignore[no-untyped-call]


class _Computed(torch.autograd.Function):
    """The identity. A `clone` would have other strides, and memory of its own; `copy_` refuses what is expanded."""

    @staticmethod
    def forward(ctx: Any, _leaf: Tensor, value: Tensor) -> Tensor:
        ctx.mark_dirty(value)
        return value

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def _part(whole: Tensor, like: Tensor) -> Tensor:
    """The view that lies in the memory of the whole as the other tensor lies in its own."""
    with torch.enable_grad():
        return with_bits_of(like, whole.as_strided(like.size(), like.stride(), like.storage_offset()))


def _tensors(values: Sequence[Any]) -> list[Tensor]:
    return [value for value in values if isinstance(value, Tensor)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRun:
    """What a graph left: what it returned, its inputs after the call, and the gradients of those that require one."""

    returned: list[Any]
    inputs: Flat
    gradients: Flat
    weights: Mapping[int, Tensor]
    """By output, the gradient with which the backward began."""
    random: Sequence[Tensor] = ()
    """The states of torch's generators after the call."""

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
    random = random_state()
    after: Flat = {
        (f"input {place}",): value.detach() for place, value in enumerate(arguments) if isinstance(value, Tensor)
    }
    weights = run_backward(returned, weighted=weighted) if gradients else {}
    grads: Flat = {(_gradient_of(at),): inputs.gradient(at, leaf) for at, leaf in leaves.items()} if gradients else {}
    return GraphRun(returned=returned, inputs=after, gradients=grads, weights=weights, random=random)


def _gradient_of(place: int) -> str:
    return f"gradient of input {place}"


def _plain(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
