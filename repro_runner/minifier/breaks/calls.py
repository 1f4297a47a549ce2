"""The functions on the way to a break, as the model calls them: their code, their arguments, what their names mean."""

from __future__ import annotations

import re
import sys
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from repro_runner.capture import CapturedBreak
from repro_runner.minifier.recipes import copy_of
from repro_runner.subject import Subject

_TORCH = str(Path(torch.__file__).parent)
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")
"""What Dynamo calls the rest of a function after a break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function of the user's, and what it was first called with."""

    code: CodeType
    arguments: Mapping[str, Any]
    """By parameter; tensors are copies."""
    names: Mapping[str, Any]
    """What its other names mean: of its closure, else of its module."""


def record_calls(subject: Subject, found: CapturedBreak) -> list[FunctionCall]:
    """The first call of each function on the break's stack, innermost first, from a run without any compiler."""
    wanted = [
        (frame.file, name, frame.line)
        for frame in reversed(found.stack)
        if not (name := _RESUMED.sub(r"\1", frame.function)).startswith("<") and not frame.file.startswith(_TORCH)
    ]
    recorded: dict[tuple[str, str, int], FunctionCall] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event != "call":
            return
        for site in wanted:
            if site not in recorded and _is_at(frame.f_code, *site):
                recorded[site] = _call(frame)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        subject.run()
    finally:
        sys.setprofile(before)
    return [recorded[site] for site in wanted if site in recorded]


def _is_at(code: CodeType, file: str, name: str, line: int) -> bool:
    return code.co_name == name and code.co_filename == file and any(line == at for _, _, at in code.co_lines())


def _call(frame: FrameType) -> FunctionCall:
    code = frame.f_code
    variadic = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    count = code.co_argcount + code.co_kwonlyargcount + variadic
    given = {name: frame.f_locals[name] for name in code.co_varnames[:count]}
    copied = tree_map(lambda value: copy_of(value) if isinstance(value, torch.Tensor) else value, given)
    free = {name: frame.f_locals[name] for name in code.co_freevars if name in frame.f_locals}
    return FunctionCall(code=code, arguments=copied, names=ChainMap(free, frame.f_globals))
