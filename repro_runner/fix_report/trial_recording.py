"""While a program runs: keep what its compiled callables return and write, and count what runs in compiled graphs."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo import eval_frame, output_graph

from repro_runner.fix_report.trial_state import State
from repro_runner.fix_report.trial_values import Keeper

_MOST_CALLS = 10_000
"""Later calls are counted, and not kept."""


@dataclass(slots=True)
class Recording:
    """What was seen; `calls` holds one flat value per call of an outermost compiled callable, in order."""

    keeper: Keeper
    calls: list[dict[str, Any]] = field(default_factory=list)
    call_count: int = 0
    graphs: int = 0
    ops_run: int = 0
    """Over all runs of all graphs: breaks and recompiles leave this number as it is, less compiled code lowers it."""
    backends: set[str] = field(default_factory=set)


@contextmanager
def record_compiled_calls() -> Iterator[Recording]:
    """Record until the block ends. Compiled callables that are called by compiled ones are part of these."""
    recording = Recording(keeper=Keeper())
    with ExitStack() as undo:
        _wrap(undo, eval_frame._TorchDynamoContext, "__call__", lambda original: _recorded_context(original, recording))
        _wrap(
            undo,
            output_graph.OutputGraph,
            "call_user_compiler",
            lambda original: _counted_compiler(original, recording),
        )
        yield recording


def _recorded_context(original: Callable[..., Any], recording: Recording) -> Callable[..., Any]:
    inside = threading.local()

    @functools.wraps(original)
    def compile_callable(context: Any, fn: Any) -> Any:
        compiled = original(context, fn)
        # A module is compiled through its `__call__`, a class through its methods: each of them comes by here itself.
        if type(context) is not eval_frame.OptimizeContext or not _is_wrapper(compiled, fn):
            return compiled

        @functools.wraps(compiled)  # with torch's marks on it, by which Dynamo traces through to the function
        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(inside, "a_call", False):
                return compiled(*args, **kwargs)
            inside.a_call = True
            state = State(fn, args, kwargs)
            try:
                result = compiled(*args, **kwargs)
            except Exception as error:
                _keep(recording, {"result": f"raised {type(error).__name__}"})
                raise
            finally:
                inside.a_call = False
            _keep(recording, recording.keeper.flat(result, state.written()))
            return result

        call._torchdynamo_wrapper_id = id(call)  # type: ignore[attr-defined]  # else torch takes it for a user's own
        eval_frame.skip_code(call.__code__)  # type: ignore[attr-defined]  # it is a function, whatever wraps() says
        return call

    return compile_callable


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
    """Dynamo wraps the backend; a torch.compile object has the name that the user gave."""
    while (inner := getattr(compiler, "_torchdynamo_orig_backend", None)) not in (None, compiler):
        compiler = inner
    return str(getattr(compiler, "compiler_name", "") or getattr(compiler, "__name__", "") or type(compiler).__name__)


def _wrap(undo: ExitStack, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    setattr(owner, name, wrapper(original))
    undo.callback(setattr, owner, name, original)
