"""While a program runs, record what its compiled callables return and write, and count the ops that run in graphs.

A call may write into its arguments, and into tensors of modules and optimisers that it reaches through its arguments,
its object, its closure or its globals. It may also change Python values of these modules, and lists of its module.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from repro_runner.fix_report.call_values import CONTAINERS, DEEPEST, HELD, LONGEST, PLAIN, Keeper
from repro_runner.torch_seams import eval_frame, output_graph, wrap
from repro_runner.values import children

_MOST_CALLS = 10_000
"""The values of later calls are not kept; they are only counted."""
_MOST_HELD = 20_000
"""No more Python values are compared at the end."""
_SMALL = 4096
"""Buffers with at most this many elements are always kept: torch's kernels update them without a new version."""


@dataclass(slots=True)
class Recording:
    """What was recorded. `calls` has one flat value per call of an outermost compiled callable, in order."""

    keeper: Keeper
    calls: list[dict[str, Any]] = field(default_factory=list)
    call_count: int = 0
    graphs: int = 0
    ops_run: int = 0
    """The sum over all runs of all graphs. Breaks and recompiles do not change it. Less compiled code lowers it."""
    backends: set[str] = field(default_factory=set)
    leaves: dict[str, torch.Tensor] = field(default_factory=dict)
    """The tensors with gradients that the calls could reach, by name. They are kept alive: the program's own names are
    gone at the end, and which tensors outlive them differs from run to run."""
    holders: dict[str, torch.nn.Module | dict[str, Any]] = field(default_factory=dict)
    """The modules that the calls could reach, by name, and the globals of functions, which hold a program's lists."""

    def at_the_end(self) -> dict[str, Any]:
        """All of them now: a backward pass and an optimiser come after the calls, and a list may be filled later."""
        found = {}
        for name, leaf in self.leaves.items():
            found[name] = leaf
            if leaf.grad is not None:
                found[f"{name}.grad"] = leaf.grad
        flat = {f"at the end, {path}": value for path, value in self.keeper.flat((), found).items()}
        values = (each for name, holder in self.holders.items() for each in _plain_values(name, holder))
        held = (each for name, value in values for each in self.keeper.plain(value, name))
        return flat | {f"{HELD}{path}": leaf for path, leaf in itertools.islice(held, _MOST_HELD)}


@contextmanager
def record_compiled_calls() -> Iterator[Recording]:
    """Record until the block ends. A compiled callable that another one calls is part of that call."""
    recording = Recording(keeper=Keeper())

    def call(compiled: Callable[..., Any], fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        state = State(fn, args, kwargs)
        for name, leaf in state.leaves():
            recording.leaves.setdefault(name, leaf)
        recording.holders = state.holders | recording.holders
        try:
            result = compiled(*args, **kwargs)
        except Exception as error:
            _keep(recording, {"result": f"raised {type(error).__name__}"})
            raise
        _keep(recording, recording.keeper.flat(result, state.written()))
        return result

    with ExitStack() as undo:
        wrap_compiled_callables(undo, call)
        wrap_compiler(undo, lambda original: _counted_compiler(original, recording))
        yield recording


def wrap_compiled_callables(undo: ExitStack, call: Callable[..., Any]) -> None:
    """Until `undo` ends, make each outermost call of a compiled callable with `call(compiled, fn, args, kwargs)`."""
    inside = threading.local()
    eval_frame.skip_code(call.__code__)

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_callable(context: Any, fn: Any) -> Any:
            compiled = original(context, fn)
            # torch compiles a module through its `__call__` and a class through its methods. Those come here, too.
            if type(context) is not eval_frame.OptimizeContext or not _is_wrapper(compiled, fn):
                return compiled

            @functools.wraps(compiled)  # this copies torch's marks, with which Dynamo finds the original function
            def outermost(*args: Any, **kwargs: Any) -> Any:
                if getattr(inside, "a_call", False):
                    return compiled(*args, **kwargs)
                inside.a_call = True
                try:
                    return call(compiled, fn, args, kwargs)
                finally:
                    inside.a_call = False

            outermost._torchdynamo_wrapper_id = id(outermost)  # type: ignore[attr-defined]  # torch knows its wrapper
            eval_frame.skip_code(outermost.__code__)  # type: ignore[attr-defined]  # wraps() hides that it is a function
            return outermost

        return compile_callable

    wrap(undo, eval_frame._TorchDynamoContext, "__call__", wrapper)


def wrap_compiler(undo: ExitStack, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Until `undo` ends, replace the method with which Dynamo gives a graph to the backend."""
    wrap(undo, output_graph.OutputGraph, "call_user_compiler", wrapper)


def _is_wrapper(compiled: Any, fn: Any) -> bool:
    return compiled is not fn and hasattr(compiled, "__code__") and not isinstance(compiled, type)


def _keep(recording: Recording, value: dict[str, Any]) -> None:
    recording.call_count += 1
    if len(recording.calls) < _MOST_CALLS:
        recording.calls.append(value)


def _counted_compiler(original: Callable[..., Any], recording: Recording) -> Callable[..., Any]:
    @functools.wraps(original)
    def call_user_compiler(graph: Any, module: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        ops = sum(node.op.startswith("call_") for node in module.graph.nodes)
        compiled = original(graph, module, *args, **kwargs)
        recording.graphs += 1
        recording.backends.add(_backend_name(graph.compiler_fn))

        @functools.wraps(compiled, updated=())
        def run(*inputs: Any) -> Any:
            recording.ops_run += ops
            return compiled(*inputs)

        return run

    return call_user_compiler


def _backend_name(compiler: Any) -> str:
    """The name of the backend inside Dynamo's wrappers, as the user gave it if it is known."""
    while (inner := getattr(compiler, "_torchdynamo_orig_backend", None)) not in (None, compiler):
        compiler = inner
    return str(getattr(compiler, "compiler_name", "") or getattr(compiler, "__name__", "") or type(compiler).__name__)


class State:
    """The tensors that a call can reach, with their versions before the call."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._statistics: set[int] = set()
        self.holders = dict(_holders(fn, args, kwargs))
        seen: set[int] = set()
        self._tensors = [
            (name, tensor, _version(tensor), _version(_gradient(tensor)))
            for root, value in _roots(fn, args, kwargs)
            for name, tensor in self._reachable(value, root, 0)
            if id(tensor) not in seen and not seen.add(id(tensor))  # type: ignore[func-returns-value]
        ]

    def leaves(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors that a backward pass gives gradients."""
        return ((name, tensor) for name, tensor, *_ in self._tensors if tensor.is_leaf and tensor.requires_grad)

    def written(self) -> dict[str, torch.Tensor]:
        """The tensors and gradients whose version has changed, new gradients, and small buffers in training."""
        found = {}
        for name, tensor, version, gradient_version in self._tensors:
            if _version(tensor) != version or id(tensor) in self._statistics:
                found[name] = tensor
            gradient = _gradient(tensor)
            if gradient is not None and _version(gradient) != gradient_version:
                found[f"{name}.grad"] = gradient
        return found

    def _reachable(self, value: Any, name: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
        if is_lazy(value):
            return  # a lazy parameter has no value yet
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, torch.nn.Module):
            buffers = [(own, tensor) for own, tensor in value.named_buffers() if not is_lazy(tensor)]
            self._statistics |= {id(tensor) for _, tensor in buffers if value.training and tensor.numel() <= _SMALL}
            for own, tensor in (*value.named_parameters(), *buffers):
                yield from self._reachable(tensor, f"{name}.{own}", depth)
        elif isinstance(value, torch.optim.Optimizer):
            yield from self._reachable([group["params"] for group in value.param_groups], name, 0)
        elif depth == DEEPEST or not isinstance(value, list | tuple | dict) or len(value) > LONGEST:
            return
        else:
            for own, each in children(value) or ():
                yield from self._reachable(each, f"{name}{own}", depth + 1)


def _holders(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[str, torch.nn.Module | dict[str, Any]]]:
    yield from ((name, value) for name, value in _roots(fn, args, kwargs) if isinstance(value, torch.nn.Module))
    space = getattr(inspect.unwrap(getattr(fn, "__func__", fn)), "__globals__", {})
    if not space.get("__name__", "torch").startswith("torch"):  # a module is called by a function of torch
        yield space["__name__"], space


def _plain_values(name: str, holder: torch.nn.Module | dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers, texts and containers in a module and the modules in it; of globals, only the containers."""
    if isinstance(holder, dict):
        yield from ((f"{name}.{own}", value) for own, value in holder.items() if _is_own(own, value, CONTAINERS))
        return
    for inner, module in holder.named_modules(prefix=name):
        yield from ((f"{inner}.{own}", value) for own, value in vars(module).items() if _is_own(own, value, PLAIN))


def _is_own(name: str, value: Any, kinds: tuple[type, ...]) -> bool:
    return not name.startswith("_") and isinstance(value, kinds)


def _version(tensor: torch.Tensor | None) -> tuple[int, int] | None:
    """(id, version) of a tensor; None if there is none. Tensors of inference mode have no version, only the id."""
    if tensor is None:
        return None
    return id(tensor), 0 if tensor.is_inference() else tensor._version


def _gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.grad if tensor.is_leaf else None


def _roots(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    function = inspect.unwrap(getattr(fn, "__func__", fn))
    yield from ((f"argument {number}", value) for number, value in enumerate(args, 1))
    yield from ((f"argument {name}", value) for name, value in kwargs.items())
    yield "self", getattr(fn, "__self__", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    for name in code.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
