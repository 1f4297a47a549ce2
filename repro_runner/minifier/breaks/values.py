"""Expressions that make objects of a running program, or similar ones, again."""

from __future__ import annotations

import enum
import inspect
import sys
from collections.abc import Mapping
from typing import Any

import torch

from repro_runner.minifier.recipes import can_be_drawn, drawn


class Unextractable(Exception):
    """There is no expression for a value; the text describes the value."""


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
LIBRARIES = {*sys.stdlib_module_names, "torch", "numpy"}
"""Modules that any repro may import; whatever else a function uses is copied."""


def plain_text(value: Any) -> str | None:
    """A literal, a constant of torch, or a tensor of the same shape; None for what is none of these."""
    if isinstance(value, torch.Tensor):
        if not can_be_drawn(value):
            raise Unextractable(f"a {type(value).__name__} of layout {value.layout}, which can't be drawn")
        return drawn(value)
    if isinstance(value, enum.Enum) and type(value).__module__.partition(".")[0] in LIBRARIES:
        return f"{library_path(type(value))}.{value.name}"
    if type(value) in _PLAIN:
        return f'float("{value}")' if isinstance(value, float) and value - value != 0 else repr(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value)
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    return None


def library_path(value: Any) -> str | None:
    """`torch.nn.functional.relu`, for a function or class that a library has under that name; None for other things."""
    if not callable(value):
        return None
    name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
    for home in (getattr(value, "__module__", None), "torch", "torch.nn", "torch.nn.functional", "math", "operator"):
        if home and home.partition(".")[0] in LIBRARIES and getattr(sys.modules.get(home), name, None) is value:
            return f"{home}.{name}"
    return None


def is_of_torch_nn(module: torch.nn.Module) -> bool:
    return type(module).__module__.startswith("torch.nn.modules.")


def container_text(module: torch.nn.Module, inner: Mapping[str, str]) -> str | None:
    """A Sequential, ModuleList or ModuleDict of layers with these expressions; None for another module."""
    if isinstance(module, torch.nn.ModuleDict):
        return f"torch.nn.ModuleDict({{{', '.join(f'{name!r}: {text}' for name, text in inner.items())}}})"
    listed = ", ".join(inner.values())
    if isinstance(module, torch.nn.ModuleList):
        return f"torch.nn.ModuleList([{listed}])"
    return f"torch.nn.Sequential({listed})" if isinstance(module, torch.nn.Sequential) else None


def layer_text(module: torch.nn.Module) -> str:
    """A call that makes such a layer of torch.nn, in the same mode and place; Unextractable if it makes another."""
    kind = type(module)
    name = f"torch.nn.{kind.__name__}" if getattr(torch.nn, kind.__name__, None) is kind else library_path(kind)
    text = f"{name}({_settings(module)})"
    try:
        again = eval(text, {"torch": torch})
    except Exception as error:  # a constructor may refuse in any way
        raise Unextractable(f"a {kind.__name__}, which `{text}` does not make: {error}") from error
    if _shapes(again) != _shapes(module):
        raise Unextractable(f"a {kind.__name__}, which `{text}` makes otherwise")
    tensors = [*module.parameters(), *module.buffers()]
    dtypes = {each.dtype for each in module.parameters()} - {torch.float32}
    devices = {each.device.type for each in tensors} - {"cpu"}
    moved = [*(f".to({dtype})" for dtype in dtypes), *(f'.to("{device}")' for device in devices)]
    return text + "".join(moved) + ("" if module.training else ".eval()")


def _settings(module: torch.nn.Module) -> str:
    """The arguments of its constructor, read back from its attributes."""
    if isinstance(module, torch.nn.RNNBase):
        parameters = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY) for each in _RECURRENT]
    else:
        parameters = list(inspect.signature(type(module).__init__).parameters.values())[1:]
    given = []
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) or each.name in ("device", "dtype"):
            continue
        value = getattr(module, each.name, each.default)
        if each.name == "bias" and (value is None or isinstance(value, torch.Tensor)):
            value = value is not None
        if value is each.empty:
            raise Unextractable(f"a {type(module).__name__}, whose {each.name} is not known")
        if each.default is each.empty or value != each.default:
            text = plain_text(value) if not isinstance(value, tuple) else repr(value)
            given.append(
                f"{text}"
                if each.kind is not each.KEYWORD_ONLY and each.default is each.empty
                else f"{each.name}={text}"
            )
    return ", ".join(given)


def _shapes(module: torch.nn.Module) -> dict[str, torch.Size]:
    return {name: each.shape for name, each in module.state_dict().items()}
