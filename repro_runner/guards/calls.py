"""The calls that a model is watched through: one after the other, as in the user's own program."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

from registry.errors import InvalidInput, Problem
from repro_runner.model_under_test import ModelFailed, ModelUnderTest, arguments_of
from repro_runner.model_under_test.model import describe_error, where

Model = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Arguments for the model, or a function that is given the model and calls it as it likes."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[[Model], Any] | None = None
    words: str = "as given"

    def make(self, model: Model) -> Any:
        if self.function is not None:
            return self.function(model)
        return model(*self.args, **self.kwargs)


def read_calls(calls: Iterable[Any], where_from: str) -> tuple[Call, ...]:
    """From what a user writes: inputs as `make_inputs` returns them, or functions of the model."""
    found: list[Call] = []
    for number, each in enumerate(calls, 1):
        if callable(each) and not isinstance(each, torch.Tensor):
            found.append(Call(function=each, words=getattr(each, "__name__", "a function of the model")))
            continue
        args, kwargs = arguments_of(each, f"{where_from}, call {number}")
        found.append(Call(args=args, kwargs=kwargs, words=_shapes(args, kwargs)))
    if not found:
        raise InvalidInput([Problem(where_from, "there are no calls in it; give the inputs of one at least")])
    return tuple(found)


def find_calls(spec: str, *, device: str = "cpu") -> tuple[Call, ...]:
    """Those that `make_calls()` of the file of `FILE.py:function` returns or yields; none if it has no such function.
    The file has been imported before."""
    source = spec.rpartition(":")[0]
    modules = [
        module
        for name, module in reversed(sys.modules.items())
        if name == source or getattr(module, "__file__", None) == str(Path(source).resolve())
    ]
    make_calls = getattr(modules[0], "make_calls", None) if modules else None
    if make_calls is None:
        return ()
    try:
        made = list(make_calls())
    except Exception as error:
        raise ModelFailed([Problem(where(error, spec), f"{describe_error(error)}, in make_calls()")]) from error
    moved = tree_map(lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, made)
    return read_calls(moved, f"make_calls() of {source}")


def copied(calls: Sequence[Call]) -> tuple[Call, ...]:
    """As they are, strides, marks and classes of tensors included; what two calls share, their copies share."""
    memo: dict[int, Any] = {}

    def copy_one(value: Any) -> Any:
        try:
            return copy.deepcopy(value, memo)
        except Exception:  # noqa: BLE001  __deepcopy__ is anybody's: what can't be copied is used as it is
            if isinstance(value, torch.Tensor):  # one with a history, which torch refuses to copy
                return memo.setdefault(id(value), value.detach().clone().requires_grad_(value.requires_grad))
            return value

    return tuple(
        Call(
            args=tree_map(copy_one, call.args),
            kwargs=tree_map(copy_one, dict(call.kwargs)),
            function=call.function,
            words=call.words,
        )
        for call in calls
    )


def run_eagerly(subject: ModelUnderTest, calls: Sequence[Call]) -> None:
    """Make the calls without any compiler; ModelFailed names the user's line and the call."""
    model = fresh_model(subject)
    for number, call in enumerate(copied(calls), 1):
        torch.manual_seed(subject.seed)
        try:
            call.make(model)
        except Exception as error:
            words = f"{describe_error(error)}; call {number} ({call.words}) fails without torch.compile, too"
            raise ModelFailed([Problem(where(error, subject.name), words)]) from error


def fresh_model(subject: ModelUnderTest) -> Model:
    try:
        return subject.fresh_model()
    except Exception as error:
        remedy = "it can't be copied; put `with GuardInspector() as inspector:` around calls of your own"
        raise InvalidInput([Problem(subject.name, f"{describe_error(error)}: {remedy}")]) from error


def parameters_of(model: Model) -> inspect.Signature:
    """Of `forward` for a module."""
    return inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model)


def _shapes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """`float32 [4, 8], n=3`."""
    return ", ".join([*map(_told, args), *(f"{name}={_told(value)}" for name, value in kwargs.items())]) or "no inputs"


def _told(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    if isinstance(value, (int, float, str, bool, type(None))):
        return repr(value)
    return type(value).__name__
