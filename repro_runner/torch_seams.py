"""The only list of private torch names that this project uses, each with its purpose.

A new torch may move or drop any of them: `graphbreak doctor` shows which are missing, and which verbs need them. Import
a name where you need it: `from repro_runner.torch_seams import reset`. torch is not imported before that. Generated
scripts (repro_runner/minifier/parts) write private names themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Seam:
    """A private name of torch."""

    path: str
    """`torch._dynamo.reset`."""
    purpose: str
    members: str = ""
    """The names that are used of a module or class, separated by spaces. A `?` marks a name that may be missing."""
    optional: bool = False
    """Some releases do not have it and do not need it. The value is None there."""


SEAMS = {
    # What runs a compilation
    "dynamo": Seam("torch._dynamo", "torch.compile with fullgraph off: its `optimize` is wrapped", "optimize"),
    "reset": Seam("torch._dynamo.reset", "forget everything that was compiled"),
    "dynamo_config": Seam(
        "torch._dynamo.config",
        "settings of Dynamo: CONFIG and FLAGS of repros, limits, fullgraph",
        "codegen_config patch",
    ),
    "functorch_config": Seam("torch._functorch.config", "settings of AOTAutograd", "patch"),
    "inductor_config": Seam(
        "torch._inductor.config",
        "settings of Inductor: partitioner, random numbers, dumps",
        "custom_partitioner_fn fallback_random patch",
    ),
    "compile_fx": Seam(
        "torch._inductor.compile_fx", "lower a graph with Inductor's kernels", "compile_fx compile_fx_inner"
    ),
    "default_cache_dir": Seam("torch._inductor.runtime.cache_dir_utils.default_cache_dir", "share Inductor's cache"),
    "DebugContext": Seam("torch._inductor.debug.DebugContext", "keep Inductor's IR and code"),
    "CustomPartitionerFn": Seam("torch._inductor.custom_graph_pass.CustomPartitionerFn", "see forward and backward"),
    "select_decomp_table": Seam("torch._inductor.decomposition.select_decomp_table", "Inductor's decompositions"),
    "aot_autograd": Seam("torch._dynamo.backends.common.aot_autograd", "forward and backward graphs of a backend"),
    "make_boxed_func": Seam("torch._functorch._aot_autograd.utils.make_boxed_func", "run a traced graph"),
    "default_partition": Seam("torch._functorch.partitioners.default_partition", "split forward from backward"),
    "min_cut_rematerialization_partition": Seam(
        "torch._functorch.partitioners.min_cut_rematerialization_partition", "split them as Inductor does"
    ),
    "fx_minifier": Seam("torch._functorch.fx_minifier", "torch's own minifier of graphs", "minifier"),
    "list_backends": Seam("torch._dynamo.backends.registry.list_backends", "the names of registered backends"),
    "lookup_backend": Seam("torch._dynamo.backends.registry.lookup_backend", "a registered backend by its name"),
    # What watches one
    "convert_frame": Seam(
        "torch._dynamo.convert_frame",
        "where the compilation of a frame begins and ends",
        "ConvertFrame ConvertFrameAssert _fullgraph_capture_frame? register_bytecode_hook",
    ),
    "exc": Seam(
        "torch._dynamo.exc",
        "where the message of a break and its exception are made",
        "RestartAnalysis SkipFrame Unsupported UserError format_graph_break_message",
    ),
    "symbolic_convert": Seam(
        "torch._dynamo.symbolic_convert",
        "where a break is logged; which function is being compiled",
        "InstructionTranslatorBase tls?",
    ),
    "ShortenTraceback": Seam("torch._dynamo.exc.ShortenTraceback", "an error of a backend that shows as itself"),
    "dynamo_utils": Seam("torch._dynamo.utils", "counters and times of compilations", "CompilationMetrics counters"),
    "bytecode_transformation": Seam(
        "torch._dynamo.bytecode_transformation",
        "count how often a break runs",
        "add_push_null create_call_function create_instruction create_load_const instruction_size "
        "transform_code_object",
    ),
    "ContinueExecutionCache": Seam(
        "torch._dynamo.resume_execution.ContinueExecutionCache", "which code goes on after a break", "lookup"
    ),
    "eval_frame": Seam(
        "torch._dynamo.eval_frame",
        "what a compiled callable is; code that is left to Python",
        "OptimizeContext _TorchDynamoContext __file__ optimize skip_code",
    ),
    "decorators": Seam(
        "torch._dynamo.decorators",
        "what asks for fullgraph inside a program",
        "ErrorOnGraphBreakDecoratorContextManager?",
    ),
    "ctx_manager": Seam(
        "torch._dynamo.variables.ctx_manager", "the same, while it is traced", "ErrorOnGraphBreakVariable?"
    ),
    "output_graph": Seam("torch._dynamo.output_graph", "the graph that is given to a backend", "OutputGraph"),
    "guards": Seam(
        "torch._dynamo.guards", "the guards of a compilation", "CheckFunctionManager profile_guard_manager?"
    ),
    "external_utils": Seam("torch._dynamo.external_utils", "frames of Dynamo's own in a user's stack", "__file__"),
    "CompileContext": Seam(
        "torch._guards.CompileContext", "the id of the compilation that goes on", "current_compile_id try_get"
    ),
    "function_modes": Seam("torch._C._len_torch_function_stack", "modes that a program leaves behind"),
    "dispatch_modes": Seam("torch._C._len_torch_dispatch_stack", "modes that a program leaves behind"),
    "GlobalStateGuard": Seam("torch._C._dynamo.guards.GlobalStateGuard", "which global setting a guard is about"),
    "dispatch_keys": Seam("torch._C._dispatch_keys", "what of a tensor its guard looks at"),
    "TorchDispatchMode": Seam(
        "torch.utils._python_dispatch.TorchDispatchMode", "count op calls", "ignore_compile_internals?"
    ),
    # What a graph consists of
    "HigherOrderOperator": Seam("torch._ops.HigherOrderOperator", "ops that hold graphs"),
    "OpOverload": Seam("torch._ops.OpOverload", "aten ops"),
    "OpOverloadPacket": Seam("torch._ops.OpOverloadPacket", "all overloads of an aten op"),
    "FunctionSchema": Seam("torch._C.FunctionSchema", "the arguments of an op, by name"),
    "DispatchKey": Seam("torch._C.DispatchKey", "which ops are made of others", "CompositeImplicitAutograd"),
    "all_op_names": Seam("torch._C._dispatch_get_all_op_names", "every op that this torch knows"),
    "FakeTensor": Seam("torch._subclasses.fake_tensor.FakeTensor", "tensors without values"),
    "FakeTensorMode": Seam("torch._subclasses.fake_tensor.FakeTensorMode", "trace a graph without running it"),
    "has_storage": Seam("torch._C._has_storage", "which tensors have memory"),
    "neg_view": Seam("torch._neg_view", "copy a tensor that is negated lazily"),
    "set_grad_enabled": Seam("torch._C._set_grad_enabled", "switches of the gradient in a graph"),
    "enter_autocast": Seam("torch.amp.autocast_mode._enter_autocast", "switches of autocast in a graph"),
    "exit_autocast": Seam("torch.amp.autocast_mode._exit_autocast", "switches of autocast in a graph"),
    "get_data_attr": Seam("torch._C._autograd._get_data_attr", "`.data` in a graph", optional=True),
    "local_scalar_dense": Seam("torch.ops.aten._local_scalar_dense.default", "`.item()` in a graph"),
    "aot_descriptors": Seam(
        "torch._functorch._aot_autograd.descriptors",
        "what each input and output of a graph is",
        "BufferAOTInput GradAOTOutput InputMutationAOTOutput ParamAOTInput PlainAOTInput PlainAOTOutput "
        "SavedForBackwardsAOTOutput TangentAOTInput",
    ),
    "qualified_name": Seam("torch.fx.node._get_qualified_name", "how a function of torch is written in a script"),
    "pytree": Seam(
        "torch.utils._pytree", "walk values inside values", "SequenceKey tree_flatten_with_path tree_leaves tree_map"
    ),
}


def resolve(path: str) -> Any:
    """The object at this dotted path in the installed torch. Raises AttributeError if there is none."""
    module, _, rest = path.partition(".")
    found: Any = importlib.import_module(module)
    for part in rest.split("."):
        module = f"{module}.{part}"
        if not hasattr(found, part):
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise AttributeError(f"this torch has no {module}") from error
        found = getattr(found, part)
    return found


def __getattr__(name: str) -> Any:
    seam = SEAMS.get(name)
    if seam is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = resolve(seam.path)
    except AttributeError as error:
        if not seam.optional:
            # `from … import` replaces the text of an AttributeError, and this text names what is missing.
            raise ImportError(f"{error}; `graphbreak doctor` tells which verbs need it") from error
        found = None
    globals()[name] = found
    return found


def wrap(undo: ExitStack, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    """Replace `owner.name` by `wrapper(owner.name)` until `undo` ends."""
    original = getattr(owner, name)
    setattr(owner, name, wrapper(original))
    undo.callback(setattr, owner, name, original)
