"""Calls that differ in a size: what a user who gives one set of inputs wants to know about the others."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.guards.calls import Call, parameters_of, run_eagerly
from repro_runner.model_under_test import ModelFailed, ModelUnderTest

_STEPS = (1, 2)
"""By how much a size grows: the first makes torch compile again, the second shows whether it has to once more."""
Dimensions = Mapping[str, int]
"""{argument: dimension}, all of which grow together."""


def default_calls(subject: ModelUnderTest) -> tuple[Call, ...]:
    """The inputs twice, then with a greater dimension 0 of whatever has the size of the first tensor's, if the model
    takes that; the words of each call say what it was made with."""
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
    """The inputs twice, then with these dimensions greater; InvalidInput for one that is not there."""
    tensors = _tensors(subject)
    problems = []
    for name, dimension in dimensions.items():
        if name not in tensors:
            near = difflib.get_close_matches(name, tensors, n=3)
            there = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(tensors) or 'none'}"
            problems.append(Problem(f"--vary {name}:{dimension}", f"no tensor is handed over as {name}; {there}"))
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
    """With its first slice once more at the end, so that indices and masks in it stay valid."""
    grown = tensor.detach()
    for _ in range(step):
        grown = torch.cat([grown, grown.narrow(dimension, 0, 1)], dimension)
    return grown.requires_grad_(tensor.requires_grad)
