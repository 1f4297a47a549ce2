"""A model and its inputs. Every call starts from the same state."""

from __future__ import annotations

import copy
import itertools
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.process.isolated import doing
from repro_runner.torch_seams import FakeTensor, pytree

_TORCH = str(Path(torch.__file__).parent)
_OWN = str(Path(__file__).parents[1])


class ModelFailed(InvalidInput):
    """The user's own code raised, with no compiler involved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUnderTest:
    """What a verb examines. `model` is called as `model(*args, **kwargs)`; neither it nor the inputs are ever changed:
    `fresh_model` and `fresh_inputs` are copies, since a model may write into both."""

    name: str
    model: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def fresh_model(self) -> Callable[..., Any]:
        """A copy with the same weights and buffers; a plain function as it is."""
        if not isinstance(self.model, torch.nn.Module):
            return self.model
        # Fake tensors have no values that could change, and torch can't copy them.
        tensors = itertools.chain(self.model.parameters(), self.model.buffers())
        return copy.deepcopy(self.model, {id(each): each for each in tensors if isinstance(each, FakeTensor)})

    def fresh_inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the inputs, leaves that require grad included; a tensor given twice stays one tensor."""
        copies: dict[int, torch.Tensor] = {}

        def copied(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) not in copies:
                copies[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
            return copies[id(value)]

        args, kwargs = pytree.tree_map(copied, (self.args, dict(self.kwargs)))
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
        except Exception as error:
            raise ModelFailed(
                [Problem(where(error, self.name), f"{describe_error(error)}; it fails without torch.compile, too")]
            ) from error


def describe_error(error: BaseException) -> str:
    """`ValueError: the first line of what it says`."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def where(error: BaseException, otherwise: str) -> str:
    """`file:line` of the innermost frame outside torch and this project, or of a syntax error; else `otherwise`."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((_TORCH, _OWN, "<frozen"))]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else otherwise
