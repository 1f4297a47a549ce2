"""While a program runs, record what its compiled callables return and write, and count the ops that run in graphs.

A call may write into its arguments, and into tensors of modules and optimisers that it reaches through its arguments,
its object, its closure or its globals. It may also change Python values that it reaches.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from repro_runner.judge import MEMORY, RESULT
from repro_runner.judge.hidden import calls_of, made_up
from repro_runner.judge.leaves import PLAIN, Room, leaf_of
from repro_runner.judge.observation import Call, Plan
from repro_runner.judge.state import Walk, memory_of, shared_memory
from repro_runner.torch_seams import eval_frame, output_graph, wrap
from repro_runner.values import children, is_strided, map_tensors, tensors_in

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
_MOST_CALLS = 10_000
"""The values of later calls are not kept; they are only counted."""
_SMALL = 4096
"""Buffers with at most this many elements are always kept: torch's kernels update them without a new version."""
_DEEPEST = 4
"""How many levels of nested containers are searched for tensors."""
_LONGEST = 1000
"""A container with more elements is not searched: it has a program's data, not its state."""
_LARGEST_INPUTS = 64 << 20
"""Inputs with more bytes are not kept to call a function again."""


@dataclass(frozen=True, slots=True)
class FirstCall:
    """A compiled callable, and what it was called with first."""

    compiled: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    with_gradients: bool
    """Whether gradients are recorded, and something that it reaches has one."""

    def given(self) -> tuple[Any, ...]:
        """Arguments of their own: positional ones, then those with names."""
        return _copied((*self.args, *self.kwargs.values()))

    def call(self, *given: Any) -> Any:
        """Call it with such arguments."""
        number = len(self.args)
        with torch.set_grad_enabled(self.with_gradients and torch.is_grad_enabled()):
            return self.compiled(*given[:number], **dict(zip(self.kwargs, given[number:], strict=True)))


@dataclass(slots=True)
class Recording:
    """What was recorded. `calls` has the outermost calls of compiled callables, in order."""

    room: Room = field(default_factory=Room)
    calls: list[Call] = field(default_factory=list)
    call_count: int = 0
    graphs: int = 0
    ops_run: int = 0
    """The sum over all runs of all graphs. Breaks and recompiles do not change it. Less compiled code lowers it."""
    backends: set[str] = field(default_factory=set)
    targets: list[Any] = field(default_factory=list)
    """What the graphs call."""
    held: dict[str, Any] = field(default_factory=dict)
    """What the calls could reach, by name. It is kept alive: the program's own names are gone at the end."""
    first_calls: dict[str, FirstCall] = field(default_factory=dict)
    """By the name of the function."""
    callers: set[tuple[str, int, int]] = field(default_factory=set)
    """(file, first line, line of the call) of the code from which they were called."""
    is_over: bool = False
    """Whether what is called now is no part of the program any more."""

    @property
    def made_up(self) -> list[str]:
        """The names of what graphs call that is none of torch's own."""
        return made_up(self.targets)


@contextmanager
def record_compiled_calls(
    begin: Callable[[Recording], None] = lambda _: None, *, eager: bool = False
) -> Iterator[Recording]:
    """Record until the block ends. A compiled callable that another one calls is part of that call.

    `begin` is called before the first call. With `eager`, the functions run without the compiler.
    """
    recording = Recording()

    def call(compiled: Callable[..., Any], fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if recording.is_over:
            return compiled(*args, **kwargs)
        state = State(fn, args, kwargs)
        for name, value in state.held():
            recording.held.setdefault(name, value)
        if not recording.first_calls:
            begin(recording)
        recording.callers.update(_callers())
        _keep_first(recording, compiled, fn, args, kwargs, state)
        try:
            result = compiled(*args, **kwargs)
        except Exception as error:
            _keep(recording, Call(plan=_plan(recording), error=(type(error).__name__, "")))
            raise
        _keep(recording, Call(plan=_plan(recording), seen=_seen(recording, result, state)))
        return result

    with ExitStack() as undo:
        wrap_compiled_callables(undo, call, eager=eager)
        wrap_compiler(undo, lambda original: _counted_compiler(original, recording))
        yield recording


def _seen(recording: Recording, result: Any, state: State) -> dict[str, dict[str, Any]]:
    walk = Walk(frozenset(), recording.room)
    with torch.no_grad():
        walk.add(result, "result")
        walk.flat.update((f"{name} after the call", leaf_of(one, recording.room)) for name, one in state.written())
    own = {path: home for path, home in walk.memory.items() if path.startswith("result")}
    return {RESULT: walk.flat, MEMORY: dict.fromkeys(shared_memory(state.memory() | own), True)}


def _plan(recording: Recording) -> Plan:
    return Plan(seed=recording.call_count)


def _keep(recording: Recording, call: Call) -> None:
    recording.call_count += 1
    if len(recording.calls) < _MOST_CALLS:
        recording.calls.append(call)


def _keep_first(
    recording: Recording,
    compiled: Callable[..., Any],
    fn: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: State,
) -> None:
    name = str(getattr(fn, "__qualname__", type(fn).__qualname__))
    given = (*args, *kwargs.values())
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(given) if not tensor.is_nested)
    if name not in recording.first_calls and size <= _LARGEST_INPUTS:
        copied = _copied(given)
        parts = copied[: len(args)], dict(zip(kwargs, copied[len(args) :], strict=True))
        recording.first_calls[name] = FirstCall(compiled, *parts, torch.is_grad_enabled() and state.requires_grad)


def _copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """With tensors and dictionaries of their own: a call may write into them."""

    def copy(value: Any, _place: str) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        with torch.no_grad():
            own = value.detach().clone()
        return own.requires_grad_() if value.requires_grad else own

    own = tuple(type(one)(one) if type(one) in (dict, list) else one for one in given)
    found: tuple[Any, ...] = map_tensors(own, copy, "argument")
    return found


def _callers() -> Iterator[tuple[str, int, int]]:
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]


def wrap_compiled_callables(undo: ExitStack, call: Callable[..., Any], *, eager: bool = False) -> None:
    """Until `undo` ends, make each outermost call of a compiled callable with `call(compiled, fn, args, kwargs)`.

    With `eager`, a program's functions are called as they are. Torch compiles some of its own, as those of torch.cond.
    """
    inside = threading.local()
    eval_frame.skip_code(call.__code__)

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_callable(context: Any, fn: Any) -> Any:
            compiled = original(context, fn)
            # torch compiles a module through its `__call__` and a class through its methods. Those come here, too.
            if type(context) is not eval_frame.OptimizeContext or not _is_wrapper(compiled, fn):
                return compiled

            called = fn if eager and _is_of_the_program(fn) else compiled

            @functools.wraps(compiled)  # this copies torch's marks, with which Dynamo finds the original function
            def outermost(*args: Any, **kwargs: Any) -> Any:
                if getattr(inside, "a_call", False):
                    return called(*args, **kwargs)
                inside.a_call = True
                try:
                    return call(called, fn, args, kwargs)
                finally:
                    inside.a_call = False

            outermost._torchdynamo_wrapper_id = id(outermost)  # type: ignore[attr-defined]  # torch knows its wrapper
            eval_frame.skip_code(outermost.__code__)  # type: ignore[attr-defined]  # wraps() hides that it is a function
            return outermost

        return compile_callable

    wrap(undo, eval_frame._TorchDynamoContext, "__call__", wrapper)


def _is_of_the_program(fn: Any) -> bool:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    is_of_torch = code is not None and code.co_filename.startswith(_TORCH)
    return isinstance(getattr(fn, "__self__", None), torch.nn.Module) or not is_of_torch


def wrap_compiler(undo: ExitStack, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Until `undo` ends, replace the method with which Dynamo gives a graph to the backend."""
    wrap(undo, output_graph.OutputGraph, "call_user_compiler", wrapper)


def _is_wrapper(compiled: Any, fn: Any) -> bool:
    return compiled is not fn and hasattr(compiled, "__code__") and not isinstance(compiled, type)


def _counted_compiler(original: Callable[..., Any], recording: Recording) -> Callable[..., Any]:
    @functools.wraps(original)
    def call_user_compiler(graph: Any, module: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        ops = sum(map(_is_work, module.graph.nodes))
        compiled = original(graph, module, *args, **kwargs)
        recording.graphs += 1
        recording.targets += calls_of(module)
        recording.backends.add(_backend_name(graph.compiler_fn))

        @functools.wraps(compiled, updated=())
        def run(*inputs: Any) -> Any:
            recording.ops_run += ops
            return compiled(*inputs)

        return run

    return call_user_compiler


def _is_work(node: torch.fx.Node) -> bool:
    """Whether it computes a tensor. Breaks hand on Python's numbers as tensors, which are then read again."""
    return isinstance(node.meta.get("example_value"), torch.Tensor | tuple | list) and node.op.startswith("call_")


def _backend_name(compiler: Any) -> str:
    """The name of the backend inside Dynamo's wrappers, as the user gave it if it is known."""
    while (inner := getattr(compiler, "_torchdynamo_orig_backend", None)) not in (None, compiler):
        compiler = inner
    return str(getattr(compiler, "compiler_name", "") or getattr(compiler, "__name__", "") or type(compiler).__name__)


class State:
    """The tensors that a call can reach, with their versions before the call."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._statistics: set[int] = set()
        self._roots = list(_roots(fn, args, kwargs))
        seen: set[int] = set()
        self._tensors = [
            (name, tensor, _copy_of_small(tensor), _version(tensor), _version(_gradient(tensor)))
            for root, value in self._roots
            for name, tensor in self._reachable(value, root, 0)
            if id(tensor) not in seen and not seen.add(id(tensor))  # type: ignore[func-returns-value]
        ]

    def held(self) -> Iterator[tuple[str, Any]]:
        """The tensors that a backward pass gives gradients, and the objects that may be changed."""
        yield from ((name, tensor) for name, tensor, *_ in self._tensors if tensor.is_leaf and tensor.requires_grad)
        yield from ((name, value) for name, value in self._roots if _may_change(value))

    @property
    def requires_grad(self) -> bool:
        """Whether some of them does."""
        return any(tensor.requires_grad for _, tensor, *_ in self._tensors)

    def memory(self) -> dict[str, int]:
        """Where the memory of the tensors begins that are there before the call."""
        return {name: home for name, tensor, *_ in self._tensors if (home := memory_of(tensor))}

    def written(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The tensors and gradients whose version has changed, new gradients, and small buffers in training. Of small
        tensors those that hold something else: to write what is there is to write nothing."""
        for name, tensor, copy, version, gradient_version in self._tensors:
            may_differ = _version(tensor) != version or id(tensor) in self._statistics
            if may_differ and not (copy is not None and _holds_the_same(copy, tensor)):
                yield name, tensor
            gradient = _gradient(tensor)
            if gradient is not None and _version(gradient) != gradient_version:
                yield f"{name}.grad", gradient

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
        elif depth == _DEEPEST or not isinstance(value, list | tuple | dict) or len(value) > _LONGEST:
            return
        else:
            for own, each in children(value) or ():
                yield from self._reachable(each, f"{name}{own}", depth + 1)


def _copy_of_small(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.detach().clone() if is_strided(tensor) and tensor.numel() <= _SMALL else None


def _holds_the_same(copy: torch.Tensor, tensor: torch.Tensor) -> bool:
    """NaN counts as NaN."""
    same = copy.shape == tensor.shape and copy.dtype == tensor.dtype
    return same and bool(((copy == tensor) | ((copy != copy) & (tensor != tensor))).all())


def _may_change(value: Any) -> bool:
    """Whether it is an object that can hold something else later."""
    return not isinstance(value, (*PLAIN, torch.Tensor, type, types.ModuleType, types.FunctionType, types.MethodType))


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
