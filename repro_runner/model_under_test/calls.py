"""The calls that are made while a model is watched, one after the other: those of the user's own program, or calls that
differ in a size, which show what happens with other inputs than the given ones."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.model_under_test.loading import arguments_of
from repro_runner.model_under_test.model import Call, ModelFailed, ModelUnderTest, describe_error, where
from repro_runner.output.suggestions import did_you_mean
from repro_runner.torch_seams import pytree

Model = Callable[..., Any]


def read_calls(calls: Iterable[Any], where_from: str) -> tuple[Call, ...]:
    """Read what a user wrote: inputs as `make_inputs` returns them, or functions of the model. InvalidInput if none."""
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


def find_calls(spec: str, *, device: str = "cpu", seed: int = 0) -> tuple[Call, ...]:
    """The calls that `make_calls()` in the file of `FILE.py:function` returns or yields; none without such a function.
    The file must have been imported. Raises ModelFailed if `make_calls` raises."""
    source = spec.rpartition(":")[0]
    file = str(Path(source).resolve())
    # A list, because asking a module for its file may import others (transformers' modules are such).
    imported = list(sys.modules.items())[::-1]
    modules = [module for name, module in imported if name == source or getattr(module, "__file__", None) == file]
    make_calls = getattr(modules[0], "make_calls", None) if modules else None
    if make_calls is None:
        return ()
    torch.manual_seed(seed)
    try:
        made = list(make_calls())
    except Exception as error:
        raise ModelFailed([Problem(where(error, spec), f"{describe_error(error)}, in make_calls()")]) from error
    moved = pytree.tree_map(lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, made)
    return read_calls(moved, f"make_calls() of {source}")


def copied(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Copies of the calls, with strides, marks and classes of tensors. What two calls share, their copies share."""
    memo: dict[int, Any] = {}

    def copy_one(value: Any) -> Any:
        try:
            return copy.deepcopy(value, memo)
        except Exception:  # noqa: BLE001  the user's __deepcopy__ may raise: what can't be copied is used as it is
            if isinstance(value, torch.Tensor):  # torch refuses to copy one that has a grad_fn
                return memo.setdefault(id(value), value.detach().clone().requires_grad_(value.requires_grad))
            return value

    return tuple(
        Call(
            args=pytree.tree_map(copy_one, call.args),
            kwargs=pytree.tree_map(copy_one, dict(call.kwargs)),
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
    except InvalidInput as error:
        remedy = "it can't be copied; put `with GuardInspector() as inspector:` around calls of your own"
        raise InvalidInput([Problem(subject.name, f"{describe_error(error.__cause__ or error)}: {remedy}")]) from error


def parameters_of(model: Model) -> inspect.Signature:
    """The signature of the model; for a module, of its `forward`."""
    return inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model)


def _shapes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """`float32 [4, 8], n=3`."""
    return (
        ", ".join([*map(_shown_input, args), *(f"{name}={_shown_input(value)}" for name, value in kwargs.items())])
        or "no inputs"
    )


def _shown_input(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    if isinstance(value, (int, float, str, bool, type(None))):
        return repr(value)
    return type(value).__name__


_STEPS = (1, 2)
"""By how much a size grows: the first makes torch compile again, the second shows whether it has to once more."""
Dimensions = Mapping[str, int]
"""{argument: dimension}, all of which grow together."""


def default_calls(subject: ModelUnderTest) -> tuple[Call, ...]:
    """The inputs twice; then, if the model accepts that, with a larger dimension 0 in each tensor whose dimension 0 is
    as large as the first tensor's. The words of a call describe its inputs."""
    twice = _twice(subject)
    tensors = _tensors(subject)
    batch = next((tensor.shape[0] for tensor in tensors.values() if tensor.dim()), 0)
    same = {name: 0 for name, tensor in tensors.items() if tensor.dim() and tensor.shape[0] == batch}
    if not batch:
        return twice
    varied = _varied(subject, same)
    try:
        run_eagerly(subject, varied)
    except ModelFailed as refusal:
        reason = str(refusal.problems[0].message).partition(";")[0]
        last = replace(twice[-1], words=f"{twice[-1].words}; not varied, since {varied[0].words} fails: {reason}")
        return (*twice[:-1], last)
    return (*twice, *varied)


def varied_calls(subject: ModelUnderTest, dimensions: Dimensions) -> tuple[Call, ...]:
    """The inputs twice, then with these dimensions larger. Raises InvalidInput if there is no such dimension."""
    tensors = _tensors(subject)
    problems = []
    for name, dimension in dimensions.items():
        if name not in tensors:
            hint = did_you_mean(name, tensors) or f"; there are {', '.join(tensors) or 'none'}"
            problems.append(Problem(f"--vary {name}:{dimension}", f"no tensor is handed over as {name}{hint}"))
        elif not 0 <= dimension < tensors[name].dim() or not tensors[name].shape[dimension]:
            problems.append(Problem(f"--vary {name}:{dimension}", f"{name} has the shape {list(tensors[name].shape)}"))
    if problems:
        raise InvalidInput(problems)
    return (*_twice(subject), *(_varied(subject, dimensions) if dimensions else ()))


def _twice(subject: ModelUnderTest) -> tuple[Call, ...]:
    given = Call(args=subject.args, kwargs=subject.kwargs)
    return given, replace(given, words="as given, once more")


def _tensors(subject: ModelUnderTest) -> dict[str, torch.Tensor]:
    """The tensors handed over as arguments, by parameter; those inside of lists and dicts are left as they are."""
    try:
        bound = parameters_of(subject.model).bind(*subject.args, **subject.kwargs).arguments
    except (TypeError, ValueError):
        return {}
    return {name: value for name, value in bound.items() if isinstance(value, torch.Tensor)}


def _varied(subject: ModelUnderTest, dimensions: Dimensions) -> tuple[Call, ...]:
    tensors = _tensors(subject)
    calls = []
    for step in _STEPS:
        grown = {id(tensors[name]): _grown(tensors[name], d, step) for name, d in dimensions.items()}
        sizes = [(name, d, tensors[name].shape[d]) for name, d in dimensions.items()]
        call = Call(
            args=tuple(grown.get(id(value), value) for value in subject.args),
            kwargs={name: grown.get(id(value), value) for name, value in subject.kwargs.items()},
            words=", ".join(f"dimension {d} of {name} {size} → {size + step}" for name, d, size in sizes),
        )
        calls.append(call)
    return tuple(calls)


def _grown(tensor: torch.Tensor, dimension: int, step: int) -> torch.Tensor:
    """The tensor with its first slice repeated at the end, so that indices and masks in it stay valid."""
    grown = tensor.detach()
    for _ in range(step):
        grown = torch.cat([grown, grown.narrow(dimension, 0, 1)], dimension)
    return grown.requires_grad_(tensor.requires_grad)
