"""Read the guards of a graph while torch builds them: from Guard objects to plain records."""

from __future__ import annotations

import functools
import json
import os
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from repro_runner.capture.naming import CompiledFunction, Named, closure_names, name_value
from repro_runner.guards.kinds import (
    GLOBAL_STATE,
    KINDS,
    SAME_OBJECT,
    SHAPES,
    TENSOR,
    Fact,
    TensorFact,
    read_state,
    read_tensor,
)
from repro_runner.guards.shapes import ShapeGuard
from repro_runner.torch_seams import CompileContext

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenGuard:
    """One guard. `source` reaches its value again in another frame; it holds no reference to the user's objects."""

    kind: str
    source: Any
    expression: str
    fact: Fact | TensorFact | None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    other: Any = None
    """The second source of a guard on two values."""
    user_line: str = ""
    code: str = ""
    in_module: bool = False
    """Whether it is about a module, or the inside of one."""
    in_builtin_module: bool = False
    """Whether that module is one of torch's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenGraph:
    """A compiled function, with everything that must hold for it to be used again."""

    function: CompiledFunction
    compile_id: str
    guards: tuple[SeenGuard, ...]
    shapes: tuple[ShapeGuard, ...]
    freevars: Mapping[str, str]
    files: frozenset[str]
    """The files, of the user and of torch, that the guards come from."""

    def named(self, guard: SeenGuard) -> Named:
        """The value that it guards, with the user's name for it."""
        named = self.named_expression(guard.expression)
        return replace(named, role="module attribute") if guard.in_module and named.role == "attribute" else named

    def named_expression(self, expression: str) -> Named:
        return name_value(expression, self.function, self.freevars)

    def line_of(self, shape: ShapeGuard) -> str:
        """`file:line` of the user's code. If torch names a line of its own, that of the guard on the tensor."""
        files = [file for file in sorted(self.files) if shape.file and file.endswith(shape.file)]
        if files and not files[0].startswith(_TORCH):
            return f"{files[0]}:{shape.line}"
        about = (one.user_line for one in self.guards if one.kind == TENSOR and one.expression in shape.expression)
        return next(about, "")


def read_graph(code: CodeType, compile_id: str, builder: Any, guards: Iterable[Any], output_graph: Any) -> SeenGraph:
    """A record of everything that `builder` was given to check."""
    guards = list(guards)
    frames = [frame for guard in guards for frame in guard.user_stack or ()]
    return SeenGraph(
        function=CompiledFunction.of(code, builder.scope["L"]),
        compile_id=compile_id,
        guards=tuple(_read_guard(guard, builder, output_graph) for guard in guards if _kind(guard) != SHAPES),
        shapes=tuple(_read_shapes(guards)),
        freevars=closure_names(guard.originating_source for guard in guards),
        files=frozenset({code.co_filename, *(frame.filename for frame in frames)}),
    )


def _kind(guard: Any) -> str:
    return str(guard.create_fn_name())


def _read_guard(guard: Any, builder: Any, output_graph: Any) -> SeenGuard:
    partial = guard.create_fn if isinstance(guard.create_fn, functools.partial) else None
    keywords: Mapping[str, Any] = partial.keywords if partial else {}
    return SeenGuard(
        kind=_kind(guard),
        source=guard.originating_source,
        expression=guard.name,
        fact=_read_fact(guard, keywords, builder, output_graph),
        keywords={name: value for name, value in keywords.items() if name in ("attr", "key")},
        other=keywords.get("source_b") if _kind(guard) == SAME_OBJECT else None,
        user_line=innermost_user_line(guard.user_stack or ()),
        code="; ".join(guard.code_list or ()),
        in_module=guard.source.is_unspecialized_nn_module(),
        in_builtin_module=guard.source.is_unspecialized_builtin_nn_module(),
    )


def _read_fact(guard: Any, keywords: Mapping[str, Any], builder: Any, output_graph: Any) -> Fact | TensorFact | None:
    kind, read = _kind(guard), KINDS[_kind(guard)].read if _kind(guard) in KINDS else None
    try:
        if kind == GLOBAL_STATE:
            return read_state(json.loads(output_graph.global_state_guard.__getstate__()))
        if kind == TENSOR:
            traced = output_graph.input_source_to_sizes_strides.get(guard.originating_source) or {}
            return read_tensor(builder.get(guard), traced.get("size", ()), traced.get("stride", ()))
        return read(builder.get(guard), keywords) if read else None
    except Exception:  # noqa: BLE001  reading runs the user's properties, __len__ and __repr__: anything can come out
        return None


def _read_shapes(guards: Iterable[Any]) -> Iterable[ShapeGuard]:
    """The relations between sizes, each with the line it comes from if torch keeps comments on them."""
    context = CompileContext.try_get()
    texts = list(getattr(context, "shape_env_guards", ()))
    texts = texts or [code for guard in guards if _kind(guard) == SHAPES for code in guard.code_list or ()]
    return [ShapeGuard.of(text) for text in dict.fromkeys(texts)]


def innermost_user_line(stack: Iterable[traceback.FrameSummary]) -> str:
    """`file:line` of the last frame outside torch; of the last one if all are inside. Code without a file has none."""
    frames = [frame for frame in stack if not frame.filename.startswith("<")]
    own = [frame for frame in frames if not frame.filename.startswith(_TORCH)]
    last = (own or frames)[-1:]
    return f"{last[0].filename}:{last[0].lineno}" if last else ""
