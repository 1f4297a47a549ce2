"""Run a model once under a backend, or eagerly, and keep everything it left: what it returned, what it wrote, and its
gradients."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from registry.errors import InvalidInput, Problem
from repro_runner.constraints.nodes import node_value
from repro_runner.graphs.by_name import Backend, find_backend
from repro_runner.minifier.parts.backends import widened
from repro_runner.model_under_test import Call, ModelUnderTest
from repro_runner.model_under_test.calls import copied
from repro_runner.output.units import counted
from repro_runner.torch_seams import pytree
from repro_runner.values import Flat, Path, flatten, is_inexact

CompiledGraph = Callable[..., Any]
Compiler = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From a model to what is called in its place."""

EAGER = "eager"
Layout = tuple[tuple[int, ...], tuple[int, ...]]
"""Sizes and strides."""


@dataclass(slots=True)
class Seen:
    """What happened to the graphs of a backend."""

    graphs: list[GraphModule] = field(default_factory=list)
    strides: dict[str, str] = field(default_factory=dict)
    """Outputs of graphs that lie in memory in another way than torch traced them, and how."""
    raised: bool = False
    """Whether the backend, or what it compiled, raised an error."""

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.raised = True
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBackend:
    """A backend of torch.compile with its name; `backend` is None for no compiler at all."""

    name: str
    backend: Backend | None

    def compiler(self, seen: Seen, dynamic: bool | None = None) -> Compiler:
        """One that notes in `seen` what happens to the backend's graphs."""
        backend = self.backend
        if backend is None:
            # Parts that the model itself compiles run without a compiler, too.
            return lambda model: torch.compiler.set_stance("force_eager")(model)

        def watched(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
            seen.graphs.append(graph)
            outputs = [node_value(each) for each in graph.graph.output_node().args[0]]  # type: ignore[union-attr]
            with seen.errors():
                compiled = backend(graph, inputs, **keywords)
            return _checked(compiled, outputs, f"graph {len(seen.graphs)}", seen)

        return lambda model: torch.compile(model, backend=watched, dynamic=dynamic)


class WrongOutputs(Exception):
    """What a backend returns does not fit the graph that it was given."""


def _checked(compiled: CompiledGraph, outputs: Sequence[Any], graph: str, seen: Seen) -> CompiledGraph:
    """Call what a backend made. Dynamo unpacks what that returns as if it were right."""
    layouts = list(map(layout_of, outputs))

    def call(*arguments: Any) -> Any:
        with seen.errors():
            returned = check(compiled(*arguments))
        for place, (value, layout) in enumerate(zip(returned, layouts, strict=True)):
            if unlike := unlike_strides(layout, layout_of(value)):
                seen.strides[f"output {place} of {graph}"] = unlike
        return returned

    def check(returned: Any) -> Any:
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
    layouts: Mapping[Path, Layout] = field(default_factory=dict)
    """How outputs lie in memory. A copy of one may lie there in another way."""


def execute(subject: ModelUnderTest, compiler: Compiler, *, gradients: bool) -> Execution:
    """Make the calls of what `compiler` makes of a fresh copy of the model, from the subject's seed."""
    model, calls = subject.fresh_model(), fresh_calls(subject)
    sources = _leaves_that_require_grad(model, calls) if gradients else {}
    torch.manual_seed(subject.seed)
    called, returned, output, shared = compiler(model), dict[Path, Any](), dict[Path, Any](), dict[Path, Any]()
    for before, call in calls.items():
        made = flatten(call.make(called), f"{before}output", keep=_as_it_is)
        _refuse_iterators(made)
        returned |= made
        # Copied, since some compilers use the memory of an output again in the next call.
        output |= {path: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf for path, leaf in made.items()}
        shared |= _shared_memory(made, {**inputs_of({before: call}), **state_of(model)})
    if gradients:
        run_backward(list(returned.values()), subject.seed)
    return Execution(
        output=output,
        inputs=inputs_of(calls),
        state=state_of(model),
        gradients={(*path, ".grad"): source.grad for path, source in sources.items()},
        shared=shared,
        layouts={path: layout for path, leaf in returned.items() if (layout := layout_of(leaf)) is not None},
    )


def calls_of(subject: ModelUnderTest) -> dict[str, Call]:
    """The calls to make, by what their values begin with: nothing, if it is the only one."""
    if not subject.calls:
        return {"": Call(args=subject.args, kwargs=subject.kwargs)}
    return {f"call {number}: ": call for number, call in enumerate(subject.calls, 1)}


def fresh_calls(subject: ModelUnderTest) -> dict[str, Call]:
    """As `calls_of`, with copies of the inputs."""
    if not subject.calls:
        args, kwargs = subject.fresh_inputs()
        return {"": Call(args=args, kwargs=kwargs)}
    return dict(zip(calls_of(subject), copied(subject.calls), strict=True))


def in_float64(subject: ModelUnderTest) -> ModelUnderTest | None:
    """The model and its calls in float64: what comes nearest to the truth. None if some of its tensors lie in one
    memory: they would not do so any more."""
    given = [(call.args, dict(call.kwargs)) for call in calls_of(subject).values()]
    parts = subject.model.modules() if isinstance(subject.model, torch.nn.Module) else ()
    leaves = pytree.tree_leaves([given, *map(vars, parts)])
    tensors = [each for each in leaves if isinstance(each, Tensor) and not isinstance(each, torch.nn.Parameter)]
    tensors += {id(each): each for each in leaves if isinstance(each, torch.nn.Parameter)}.values()
    memory = [place for place in map(memory_of, tensors) if place is not None]
    if len(set(memory)) < len(memory):
        return None

    def wide(call: Call) -> Call:
        args, kwargs = pytree.tree_map(_wide, (call.args, dict(call.kwargs)))
        return replace(call, args=args, kwargs=kwargs)

    model, own = subject.fresh_model(), wide(Call(args=subject.args, kwargs=subject.kwargs))
    if isinstance(model, torch.nn.Module):
        model = model.double()
    calls = tuple(map(wide, subject.calls))
    return replace(subject, model=model, args=own.args, kwargs=own.kwargs, calls=calls)


def _wide(value: Any) -> Any:
    return widened(value).requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value


def layout_of(leaf: Any) -> Layout | None:
    """None for what has no strides, or no elements, and for sizes that are not known yet."""
    if not isinstance(leaf, Tensor) or leaf.layout != torch.strided or leaf.is_nested:
        return None
    layout = tuple(leaf.shape), tuple(leaf.stride())
    known = all(type(number) is int for part in layout for number in part)
    return layout if known and leaf.numel() else None


def unlike_strides(expected: Layout | None, found: Layout | None) -> str:
    """`(1, 4) instead of (4, 1)`; empty if they are the same wherever a dimension has more than one element."""
    if expected is None or found is None or expected[0] != found[0]:
        return ""
    unlike = any(size > 1 and one != other for size, one, other in zip(*expected, found[1], strict=True))
    return f"{found[1]} instead of {expected[1]}" if unlike else ""


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


def inputs_of(calls: Mapping[str, Call]) -> Flat:
    return _inputs_of(calls, torch.Tensor.detach)


def _inputs_of(calls: Mapping[str, Call], keep: Callable[[Tensor], Any]) -> Flat:
    found: Flat = {}
    for before, call in calls.items():
        if call.function is None:
            found |= flatten(call.args, f"{before}args", keep) | flatten(dict(call.kwargs), f"{before}kwargs", keep)
    return found


def state_of(model: Callable[..., Any]) -> Flat:
    return flatten(model, "model") if isinstance(model, torch.nn.Module) else {}


def _leaves_that_require_grad(model: Callable[..., Any], calls: Mapping[str, Call]) -> dict[tuple[str, ...], Tensor]:
    parameters = flatten(model, "model", _as_it_is) if isinstance(model, torch.nn.Module) else {}
    every = {**parameters, **_inputs_of(calls, _as_it_is)}
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


def random_state() -> list[Tensor]:
    """The states of torch's generators."""
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])]


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor
