"""Run a model once under a backend, or eagerly, and keep everything it left: what it returned, what it wrote, and its
gradients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from registry.errors import InvalidInput, Problem
from repro_runner.constraints.nodes import node_value
from repro_runner.graphs.by_name import Backend, find_backend
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.output.units import counted
from repro_runner.values import Flat, Path, flatten, is_inexact

CompiledGraph = Callable[..., Any]
Compiler = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From a model to what is called in its place."""

EAGER = "eager"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBackend:
    """A backend of torch.compile with its name; `backend` is None for no compiler at all."""

    name: str
    backend: Backend | None

    def compiler(self, seen: list[GraphModule]) -> Compiler:
        """One that adds every graph of the backend to `seen`."""
        backend = self.backend
        if backend is None:
            # Parts that the model itself compiles run without a compiler, too.
            return lambda model: torch.compiler.set_stance("force_eager")(model)

        def watched(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
            seen.append(graph)
            outputs = [node_value(each) for each in graph.graph.output_node().args[0]]  # type: ignore[union-attr]
            return _checked(backend(graph, inputs, **keywords), outputs, f"graph {len(seen)}")

        return lambda model: torch.compile(model, backend=watched)


class WrongOutputs(Exception):
    """What a backend returns does not fit the graph that it was given."""


def _checked(compiled: CompiledGraph, outputs: Sequence[Any], graph: str) -> CompiledGraph:
    """Call what a backend made. Dynamo unpacks what that returns as if it were right."""

    def call(*arguments: Any) -> Any:
        returned = compiled(*arguments)
        if not isinstance(returned, tuple | list):
            raise WrongOutputs(f"it returns a {type(returned).__name__} for {graph}, and not a list of outputs")
        if len(returned) != len(outputs):
            values = counted(len(returned), "value")
            raise WrongOutputs(f"it returns {values} for {graph}, which has {counted(len(outputs), 'output')}")
        for place, (value, traced) in enumerate(zip(returned, outputs, strict=True)):
            if isinstance(traced, Tensor) and not isinstance(value, Tensor):
                raise WrongOutputs(
                    f"it returns a {type(value).__name__} as output {place} of {graph}, and not a tensor"
                )
        return returned

    return call


def named_backend(backend: str | Backend, decompositions: str = "") -> NamedBackend:
    """From a name (`eager` for no compiler at all) or a callable; `decompositions` are those of `find_backend`.

    Raises InvalidInput for an unknown name.
    """
    if not isinstance(backend, str):
        return NamedBackend(name=getattr(backend, "__name__", type(backend).__name__), backend=backend)
    if backend == EAGER:
        return NamedBackend(name=EAGER, backend=None)
    return NamedBackend(name=backend, backend=find_backend(backend, decompositions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What a call left. `inputs` and `state` (parameters and buffers) are as they were after it."""

    output: Flat
    inputs: Flat
    state: Flat
    gradients: Flat
    shared: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    """Outputs that share memory with inputs, parameters, buffers or outputs before them, by the names of these."""


def execute(subject: ModelUnderTest, compiler: Compiler, *, gradients: bool) -> Execution:
    """Call what `compiler` makes of a fresh copy of the model, on fresh inputs, from the subject's seed."""
    model = subject.fresh_model()
    args, kwargs = subject.fresh_inputs()
    sources = _leaves_that_require_grad(model, args, kwargs) if gradients else {}
    torch.manual_seed(subject.seed)
    returned = flatten(compiler(model)(*args, **kwargs), "output", keep=_as_it_is)
    _refuse_iterators(returned)
    # Copied, since some compilers use the memory of an output again in the next call.
    output = {path: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf for path, leaf in returned.items()}
    shared = _shared_memory(returned, {**inputs_of(args, kwargs), **state_of(model)})
    if gradients:
        run_backward(list(returned.values()), subject.seed)
    return Execution(
        output=output,
        inputs=inputs_of(args, kwargs),
        state=state_of(model),
        gradients={(*path, ".grad"): source.grad for path, source in sources.items()},
        shared=shared,
    )


def _shared_memory(returned: Flat, given: Flat) -> dict[Path, tuple[str, ...]]:
    owners: dict[int, list[str]] = defaultdict(list)
    shared = {}
    for path, leaf in (*given.items(), *returned.items()):
        if (memory := memory_of(leaf)) is not None:
            if path in returned and owners[memory]:
                shared[path] = tuple(owners[memory])
            owners[memory].append("".join(path))
    return shared


def memory_of(leaf: Any) -> int | None:
    """Where it is; None for what has no memory of its own."""
    if not isinstance(leaf, Tensor) or leaf.layout != torch.strided or not leaf.numel():
        return None
    try:
        return leaf.untyped_storage().data_ptr() or None
    except RuntimeError:  # inside vmap and the like
        return None


def _refuse_iterators(returned: Flat) -> None:
    for path, leaf in returned.items():
        if isinstance(leaf, Iterator):
            problem = f"a {type(leaf).__name__}, which computes only while it is consumed; return a list"
            raise InvalidInput([Problem("".join(path), problem)])


def inputs_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flat:
    return {**flatten(args, "args"), **flatten(kwargs, "kwargs")}


def state_of(model: Callable[..., Any]) -> Flat:
    return flatten(model, "model") if isinstance(model, torch.nn.Module) else {}


def _leaves_that_require_grad(model: Callable[..., Any], args: Any, kwargs: Any) -> dict[tuple[str, ...], Tensor]:
    parameters = flatten(model, "model", _as_it_is) if isinstance(model, torch.nn.Module) else {}
    every = {**parameters, **flatten(args, "args", _as_it_is), **flatten(kwargs, "kwargs", _as_it_is)}
    found = {path: leaf for path, leaf in every.items() if isinstance(leaf, Tensor) and leaf.requires_grad}
    for leaf in found.values():
        leaf.grad = None
    return found


def run_backward(returned: Sequence[Any], seed: int = 0, weighted: int | None = None) -> dict[int, Tensor]:
    """Run a backward, and return the gradients with which it begins, by output. They are random: a sum would hide
    errors that cancel out. Which they are does not depend on which outputs require grad. Outputs after the first
    `weighted` count for nothing."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {at: each for at, each in enumerate(returned) if isinstance(each, Tensor) and is_inexact(each.dtype)}
    drawn = {at: random_like(each, generator) for at, each in tensors.items()}
    weights = {
        at: weight * (weighted is None or at < weighted) for at, weight in drawn.items() if tensors[at].requires_grad
    }
    if weights:
        torch.autograd.backward([tensors[at] for at in weights], list(weights.values()))
    return weights


def random_like(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Normal random numbers; drawn on the CPU, so that every device gets the same."""
    if tensor.is_nested:
        drawn = tensor.detach().clone()
        for part in drawn.unbind():
            part.copy_(random_like(part, generator))
        return drawn
    wide = torch.complex128 if tensor.dtype.is_complex else torch.float64
    return torch.randn(tensor.shape, generator=generator, dtype=wide).to(tensor.device, tensor.dtype)


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor
