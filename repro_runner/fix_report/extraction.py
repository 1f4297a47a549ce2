"""Run a program again without the compiler, and extract the functions around its breaks."""

from __future__ import annotations

import ast
import itertools
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.running import run_program
from repro_runner.fix_report.tasks import program_of, without_compiler
from repro_runner.minifier.breaks.calls import CallRecorder, FunctionCall, FunctionSite, functions_on
from repro_runner.minifier.breaks.extraction import extract
from repro_runner.minifier.breaks.values import Unextractable
from repro_runner.torch_seams import dynamo_config


def extract_functions(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """A task. For each stack it returns programs made of its functions, and the reasons where that is not possible."""
    stacks = [functions_on(UserFrame(**frame) for frame in stack) for stack in arguments["stacks"]]
    watcher = _Watcher(itertools.chain.from_iterable(stacks))
    with without_compiler():
        threading.setprofile(watcher)
        sys.setprofile(watcher)
        try:
            run_program(program_of(arguments))
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        sys.modules["__main__"] = watcher.main_module  # classes and functions of the program refer to it
        calls = [[call for site in stack if (call := watcher.recorded.get(site))] for stack in stacks]
        places = [{**_programs(each, watcher), "submodule": _submodule(each)} for each in calls]
    return {"places": places}


class _Watcher(CallRecorder):
    """Records also Dynamo's settings at each call, and ends the program when all functions have been called."""

    def __init__(self, wanted: Iterator[FunctionSite]) -> None:
        super().__init__(wanted)
        self.main_module = sys.modules["__main__"]
        self.settings: dict[FunctionSite, list[str]] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        before = len(self.recorded)
        super().__call__(frame, event, argument)
        if len(self.recorded) == before:
            return
        self.main_module = sys.modules["__main__"]
        for site in self.recorded.keys() - self.settings.keys():
            self.settings[site] = list(_changed_settings())
        # In another thread, SystemExit would end only that thread, and the program could wait for it for ever.
        if self.complete and threading.current_thread() is threading.main_thread():
            raise SystemExit(0)


def _changed_settings() -> Iterator[str]:
    """Yield the lines that repeat the program's changes to torch._dynamo.config, if their values are literals."""
    for line in dynamo_config.codegen_config().splitlines():
        name, _, value = line.partition(" = ")
        try:
            ast.literal_eval(value)
        except (ValueError, SyntaxError):
            continue
        if name.startswith("torch._dynamo.config.") and not name.endswith(".disable"):
            yield line


def _submodule(calls: list[FunctionCall]) -> dict[str, Any] | None:
    """The innermost call of a module's method among these: where it is defined, and the module's name in the model."""
    modules = [(call, own) for call in calls if isinstance(own := call.arguments.get("self"), torch.nn.Module)]
    if not modules:
        return None
    (call, module), (_, model) = modules[0], modules[-1]
    code = call.code
    return {
        "file": code.co_filename,
        "function": code.co_name,
        "line": code.co_firstlineno,
        "kind": type(module).__qualname__,
        "path": next((name for name, each in model.named_modules() if each is module), ""),
    }


def _programs(recorded: list[FunctionCall], watcher: _Watcher) -> dict[str, Any]:
    """Programs made of the functions on a stack, innermost first, and reasons why functions can't be extracted.

    Each function is tried twice: names of its module are copied as they are written there, or replaced by values.
    """
    programs, reasons = [], []
    if not recorded:
        reasons.append("none of the functions around it was called when the program ran without the compiler")
    settings = {id(call): watcher.settings[site] for site, call in watcher.recorded.items()}
    for call, as_written in itertools.product(recorded, (True, False)):
        name = call.code.co_name
        try:
            code = extract(call, as_written=as_written).code()
        except Unextractable as error:
            reasons.append(f"{name} needs {error}")
        except Exception as error:  # noqa: BLE001 - the user's objects may raise anything when they are looked at
            reasons.append(f"{name} needs what raises {type(error).__name__}")
        else:
            programs.append({"function": name, "code": code, "settings": settings[id(call)]})
    return {"programs": programs, "reasons": list(dict.fromkeys(reasons))}
