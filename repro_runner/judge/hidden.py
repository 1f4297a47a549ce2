"""What of a program's work torch does not see: operators and functions that are made for it."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

_TORCH = str(Path(torch.__file__).parent)
_LIBRARIES = (_TORCH, str(Path(sys.prefix, "lib")), str(Path(sys.base_prefix, "lib")))
_OPERATORS = {"aten", "prim", "prims", "higher_order", "quantized", "profiler", "inductor", "_c10d_functional"}
_OPAQUE = {"flat_apply", "invoke_leaf_function", "inductor_compiled_code"}
"""Operators of torch that call code of which it sees nothing. A Triton kernel is no such code: it is compiled."""


def calls_of(graph: torch.fx.GraphModule) -> Iterator[Any]:
    """What a graph and the graphs inside of it call; None for a method of a tensor and for a module."""
    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function":
                    yield node.target
                elif node.op in ("call_method", "call_module"):
                    yield None


def made_up(targets: Iterable[Any]) -> list[str]:
    """The names of those that are none of torch's or Python's own, sorted."""
    return sorted({str(getattr(one, "__name__", one)) for one in targets if one is not None and _is_made_up(one)})


def _is_made_up(target: Any) -> bool:
    namespace = getattr(target, "namespace", None)
    if namespace is not None:
        return namespace not in _OPERATORS or str(getattr(target, "__name__", "")) in _OPAQUE
    if isinstance(target, types.FunctionType):  # its name can be given, and the file of its code
        files = (target.__code__.co_filename, str(target.__globals__.get("__file__", "")))
        return not (files[0].startswith("<eval_with_key") or all(one.startswith(_LIBRARIES) for one in files))
    home = getattr(target, "__module__", None) or ""
    return not home.startswith(("torch", "_operator", "builtins", "math"))
