"""A model and its inputs. Every call starts from the same state."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.output.places import shown_where
from repro_runner.process.isolated import doing, is_the_users, shortened
from repro_runner.torch_seams import FakeTensor, pytree
from repro_runner.values import copies_of, is_strided


class ModelFailed(InvalidInput):
    """The user's own code raised, with no compiler involved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Arguments for the model, or a function that gets the model and makes any calls of it."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[[Callable[..., Any]], Any] | None = None
    words: str = "as given"

    def make(self, model: Callable[..., Any]) -> Any:
        if self.function is not None:
            return self.function(model)
        return model(*self.args, **self.kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUnderTest:
    """What a verb examines. `model` is called as `model(*args, **kwargs)`; neither it nor the inputs are ever changed:
    `fresh_model` and `fresh_inputs` are copies, since a model may write into both."""

    name: str
    model: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    calls: tuple[Call, ...] = ()
    """The calls to make one after the other, for a verb that can make several; empty: one with the inputs."""

    def fresh_model(self) -> Callable[..., Any]:
        """A copy with the same weights and buffers; a plain function as it is."""
        if not isinstance(self.model, torch.nn.Module):
            return self.model
        parts = pytree.tree_leaves([vars(part) for part in self.model.modules()])
        tensors = [each for each in parts if isinstance(each, torch.Tensor)]
        # This memo goes to deepcopy, not a copy of it: what deepcopy keeps alive stands in it under the memo's own id,
        # and a new object at an old memo's address would be taken for copied already.
        memo = copies_of(each for each in tensors if not isinstance(each, FakeTensor))
        # Fake tensors have no values that could change, and torch can't copy them.
        memo |= {id(each): each for each in tensors if isinstance(each, FakeTensor)}
        for each in filter(is_strided, tensors):
            vars(memo[id(each)]).update(vars(each))  # whether it is a Buffer, and what else was written onto it
            if not each.is_leaf:  # an earlier call computed it; as a leaf that requires grad, it can't be written to
                memo[id(each)].requires_grad_(False)
        try:
            return copy.deepcopy(self.model, memo)
        except Exception as error:
            remedy = "each run needs a copy of the model: take out what can't be copied, or give it a `__deepcopy__`"
            raise InvalidInput([Problem(self.name, f"{describe_error(error)}; {remedy}")]) from error

    def fresh_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the inputs, leaves that require grad included; a tensor given twice stays one tensor."""
        inputs = (self.args, dict(self.kwargs))
        copies = copies_of(each for each in pytree.tree_leaves(inputs) if isinstance(each, torch.Tensor))
        args, kwargs = pytree.tree_map(lambda value: copies.get(id(value), value), inputs)
        return args, kwargs

    def run(self, model: Callable[..., Any] | None = None) -> Any:
        """Call `model`, or a fresh copy of the own model if it is None, on fresh inputs, with the seed set before."""
        called = self.fresh_model() if model is None else model
        args, kwargs = self.fresh_inputs()
        torch.manual_seed(self.seed)
        return called(*args, **kwargs)

    def run_eagerly(self) -> Any:
        """As `run`, without any compiler; ModelFailed names the user's line if it raises."""
        doing("running the model without a compiler", own=True)
        try:
            return self.run()
        except InvalidInput:
            raise
        except Exception as error:
            raise ModelFailed(
                [Problem(where(error, self.name), f"{describe_error(error)}; it fails without torch.compile, too")]
            ) from error


def describe_error(error: BaseException) -> str:
    """`ValueError: the first line of what it says`."""
    first = shortened(str(error).strip().partition("\n")[0])
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def where(error: BaseException, otherwise: str) -> str:
    """`file:line` of the innermost frame outside torch and this project, or of a syntax error; else `otherwise`."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    return _innermost(error.__traceback__) or otherwise


def describe_backend_error(error: BaseException) -> str:
    """`RuntimeError: no kernel for gelu (my_backend.py:12)`: what a backend raised, without what Dynamo wraps around
    it, and the innermost line of the backend's own code. Without a place if torch or this project is the backend."""
    error = _unwrapped(error)
    place = _innermost(_since_dynamo(error))
    return f"{describe_error(error)} ({shown_where(place)})" if place else describe_error(error)


def backend_traceback(error: BaseException) -> str:
    """The traceback of what a backend raised, from where Dynamo calls the backend on, with its causes."""
    error = _unwrapped(error)
    return "".join(traceback.format_exception(type(error), error, _since_dynamo(error) or error.__traceback__))


def _unwrapped(error: BaseException) -> BaseException:
    while isinstance(inner := getattr(error, "inner_exception", None), BaseException):
        error = inner
    return error


def _since_dynamo(error: BaseException) -> TracebackType | None:
    """The frames below the last one of Dynamo's that calls others: above it are the caller and the model."""
    from repro_runner.torch_seams import eval_frame  # imports the compiler, which has been there since it was called

    found = each = error.__traceback__
    while each is not None:
        file, each = each.tb_frame.f_code.co_filename, each.tb_next
        if file == eval_frame.__file__:
            found = each
    return found


def _innermost(frames: TracebackType | None) -> str:
    """`file:line` of the innermost frame outside torch, this project and Python's library; empty if there is none."""
    files = ((frame.filename, frame.lineno) for frame in reversed(traceback.extract_tb(frames)))
    return next((f"{file}:{line}" for file, line in files if is_the_users(file)), "")
