"""Why a compiled model is compiled again: its guards, breaks and recompiles in plain words, and what to do."""

from repro_runner.guards.advice import Advice
from repro_runner.guards.changes import Change
from repro_runner.guards.inspector import GuardInspector, inspect_model
from repro_runner.guards.report import CompiledGraph, Guard, GuardReport, Recompile
from repro_runner.model_under_test import Call, find_calls, read_calls
from repro_runner.model_under_test.calls import default_calls, varied_calls

__all__ = [
    "Advice",
    "Call",
    "Change",
    "CompiledGraph",
    "Guard",
    "GuardInspector",
    "GuardReport",
    "Recompile",
    "default_calls",
    "find_calls",
    "inspect_model",
    "read_calls",
    "varied_calls",
]
