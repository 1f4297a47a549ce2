"""From `FILE.py:function` to a model with its inputs.

The function is called without arguments and returns a model, or `(model, inputs)`, or `(model, args, kwargs)`. Inputs
are a tensor, a tuple of arguments, or a dict of keywords. Where only a model comes back, `make_inputs()` or `inputs()`
of the same file makes the inputs. The name may also be that of a module, of a module class, or of a function that takes
the inputs itself: `registry/repros/GB0170.py:broken` is one.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import itertools
import sys
import textwrap
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.model_under_test.model import ModelFailed, ModelUnderTest, describe_error, where
from repro_runner.output.suggestions import did_you_mean
from repro_runner.process.isolated import doing
from repro_runner.torch_seams import pytree

_INPUTS = ("make_inputs", "inputs")
_HOW = "`(model, inputs)`, or a model beside a function `make_inputs()` in the same file"


def load_model(spec: str, *, device: str = "cpu", seed: int = 0) -> ModelUnderTest:
    """Import the file, make the model and its inputs on `device`; InvalidInput says what is missing."""
    source, _, name = spec.rpartition(":")
    if not source or not name:
        raise _refusal(spec, "name the function that makes the model: MODEL.py:make_model")
    doing("making the model", own=True)
    module = import_source(source)
    _require_device(device)
    torch.manual_seed(seed)
    made = _make(module, name, spec)
    model, inputs = _split_model_and_inputs(made, spec)
    if inputs is None:
        torch.manual_seed(seed)
        inputs = _make_inputs(module, model, spec)
    args, kwargs = arguments_of(inputs, spec)
    if not callable(model):
        raise _refusal(spec, f"makes {_describe_value(model)}, which can't be called; return {_HOW}")
    if isinstance(model, torch.nn.Module) and not _is_on(model, device):
        model = model.to(device)
    args, kwargs = pytree.tree_map(
        lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, (args, kwargs)
    )
    return ModelUnderTest(name=spec, model=model, args=args, kwargs=kwargs, seed=seed)


def _require_device(device: str) -> None:
    """InvalidInput if torch can't make a tensor there. The user's file was imported, and may have registered one."""
    try:
        torch.empty(1, device=device)
    except Exception as error:  # each device has its own errors
        reason = textwrap.shorten(str(error), 120, placeholder=" …")
        remedy = "let the file of the model import the package that registers it, or name another"
        raise _refusal(f"device {device}", f"torch can't make a tensor there ({reason}); {remedy}") from error


def _is_on(model: torch.nn.Module, device: str) -> bool:
    wanted = torch.empty(0, device=device).device
    return all(tensor.device == wanted for tensor in itertools.chain(model.parameters(), model.buffers()))


def import_source(source: str) -> ModuleType:
    """Import a file or a dotted name. Raises InvalidInput if there is no such file, ModelFailed if importing raises."""
    try:
        if source.endswith(".py"):
            return _import_file(Path(source))
        if not all(map(str.isidentifier, source.split("."))):
            raise _refusal(source, "not a Python file, nor the name of a module")
        sys.path.insert(0, str(Path.cwd()))
        try:
            return importlib.import_module(source)
        finally:
            sys.path.pop(0)
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        raise ModelFailed([Problem(where(error, source), f"{describe_error(error)}, while importing it")]) from error


class _AsItIs(SourceFileLoader):
    """Reads the file and never a compiled one: two files of one size, saved within a second, have the same."""

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise _refusal(str(path), "no such file")
    name = (
        path.stem
        if path.stem.isidentifier() and path.stem not in sys.modules
        else f"model_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    )
    loader = _AsItIs(name, str(path.resolve()))
    spec = importlib.util.spec_from_file_location(name, path.resolve(), loader=loader)
    if spec is None or path.suffix != ".py":
        raise _refusal(str(path), "not a Python file")
    module = importlib.util.module_from_spec(spec)
    # The file can import its neighbours, as if it were run as a script. Dynamo looks modules up by name.
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make(module: ModuleType, name: str, spec: str) -> Any:
    found = getattr(module, name, None)
    if found is None:
        callables = [key for key, value in vars(module).items() if callable(value)]
        raise _refusal(spec, f"no `{name}` in it{did_you_mean(name, callables, spelled='`{}`'.format)}")
    if isinstance(found, torch.nn.Module) or not callable(found) or _needs_arguments(found):
        return found
    try:
        return found()
    except Exception as error:
        raise ModelFailed([Problem(where(error, spec), f"{describe_error(error)}, in {name}()")]) from error


def _needs_arguments(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.default is p.empty and p.kind not in variadic for p in parameters)


def _split_model_and_inputs(made: Any, spec: str) -> tuple[Any, Any]:
    """(model, inputs); inputs are None if the function made only a model."""
    if not isinstance(made, (tuple, list)):
        return made, None
    if len(made) == 2:
        return made[0], made[1]
    if len(made) == 3 and isinstance(made[1], (tuple, list)) and isinstance(made[2], Mapping):
        return made[0], (tuple(made[1]), dict(made[2]))
    raise _refusal(spec, f"makes {len(made)} things; return {_HOW}")


def _make_inputs(module: ModuleType, model: Any, spec: str) -> Any:
    for name in _INPUTS:
        if callable(function := getattr(module, name, None)):
            try:
                return function()
            except Exception as error:
                raise ModelFailed([Problem(where(error, spec), f"{describe_error(error)}, in {name}()")]) from error
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    if callable(forward) and not _needs_arguments(forward):
        return ()
    raise _refusal(spec, f"nothing says what to call the model with; return {_HOW}")


def arguments_of(inputs: Any, spec: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(args, kwargs) from what a user gives as inputs. Raises InvalidInput if a key of a dict is not a string."""
    if isinstance(inputs, Mapping):
        if not all(isinstance(key, str) for key in inputs):
            raise _refusal(spec, "a dict of inputs has the names of keyword arguments as keys")
        return (), dict(inputs)
    if isinstance(inputs, (tuple, list)):
        if len(inputs) == 2 and isinstance(inputs[0], tuple) and isinstance(inputs[1], dict):
            return inputs[0], inputs[1]
        return tuple(inputs), {}
    return (inputs,), {}


def _refusal(spec: str, message: str) -> InvalidInput:
    return InvalidInput([Problem(spec, message)])


def _describe_value(value: Any) -> str:
    return "nothing" if value is None else f"an object of class {type(value).__name__}"
