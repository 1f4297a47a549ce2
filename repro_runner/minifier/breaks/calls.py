"""The functions on the way to a break, as the model calls them: their code, their arguments, what their names mean."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

from repro_runner.capture import CapturedBreak
from repro_runner.capture.breaks import UserFrame, plain_name
from repro_runner.minifier.recipes import copy_of
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.torch_seams import pytree

_TORCH = str(Path(torch.__file__).parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function of the user, and the arguments of its first call."""

    code: CodeType
    arguments: Mapping[str, Any]
    """By parameter; tensors are copies."""
    names: Mapping[str, Any]
    """What its other names mean: of its closure, else of its module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSite:
    """A function of the user, identified by a line in it."""

    file: str
    function: str
    line: int

    def is_in(self, code: CodeType) -> bool:
        return (
            code.co_name == self.function
            and code.co_filename == self.file
            and any(self.line == at for _, _, at in code.co_lines())
        )


def functions_on(stack: Iterable[UserFrame]) -> list[FunctionSite]:
    """The functions on a break's stack, innermost first, without those of torch and those without a name."""
    return [
        FunctionSite(file=frame.file, function=name, line=frame.line)
        for frame in reversed(tuple(stack))
        if not (name := plain_name(frame.function)).startswith("<") and not frame.file.startswith(_TORCH)
    ]


class CallRecorder:
    """A profile function that keeps the first call of each of these functions."""

    def __init__(self, wanted: Iterable[FunctionSite]) -> None:
        self.recorded: dict[FunctionSite, FunctionCall] = {}
        self._missing: dict[str, list[FunctionSite]] = {}
        for site in dict.fromkeys(wanted):
            self._missing.setdefault(site.function, []).append(site)

    @property
    def complete(self) -> bool:
        return not self._missing

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_code.co_name
        if event != "call" or name not in self._missing:
            return
        for site in [each for each in self._missing[name] if each.is_in(frame.f_code)]:
            self.recorded[site] = _call(frame)
            self._missing[name].remove(site)
        if not self._missing[name]:
            del self._missing[name]


def record_calls(subject: ModelUnderTest, found: CapturedBreak) -> list[FunctionCall]:
    """The first call of each function on the break's stack, innermost first, from a run without any compiler."""
    wanted = functions_on(found.stack)
    recorder = CallRecorder(wanted)
    before = sys.getprofile()
    sys.setprofile(recorder)
    try:
        subject.run()
    finally:
        sys.setprofile(before)
    return [recorder.recorded[site] for site in wanted if site in recorder.recorded]


def _call(frame: FrameType) -> FunctionCall:
    code = frame.f_code
    variadic = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    count = code.co_argcount + code.co_kwonlyargcount + variadic
    given = {name: frame.f_locals[name] for name in code.co_varnames[:count]}
    copied = pytree.tree_map(lambda value: copy_of(value) if isinstance(value, torch.Tensor) else value, given)
    free = {name: frame.f_locals[name] for name in code.co_freevars if name in frame.f_locals}
    return FunctionCall(code=code, arguments=copied, names=ChainMap(free, frame.f_globals))
