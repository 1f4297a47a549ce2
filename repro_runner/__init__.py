"""Everything that runs or watches torch; the only package that may import it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repro_runner.adapters import AcceleratorAdapter, AcceleratorCapabilities, IntegratedMockAdapter
    from repro_runner.aot_backend import aot_mock_backend
    from repro_runner.backends.mock import mock_backend
    from repro_runner.diff import ComparisonConfig, KernelDiffHarness, compare_tensors
    from repro_runner.guards import GuardInspector

__all__ = [
    "AcceleratorAdapter",
    "AcceleratorCapabilities",
    "ComparisonConfig",
    "GuardInspector",
    "IntegratedMockAdapter",
    "KernelDiffHarness",
    "aot_mock_backend",
    "compare_tensors",
    "mock_backend",
]

# Imported when asked for: they import torch, which takes seconds, and `graphbreak --help` works without it.
_HOMES = {
    "AcceleratorAdapter": "repro_runner.adapters",
    "AcceleratorCapabilities": "repro_runner.adapters",
    "ComparisonConfig": "repro_runner.diff",
    "GuardInspector": "repro_runner.guards",
    "IntegratedMockAdapter": "repro_runner.adapters",
    "KernelDiffHarness": "repro_runner.diff",
    "aot_mock_backend": "repro_runner.aot_backend",
    "compare_tensors": "repro_runner.diff",
    "mock_backend": "repro_runner.backends.mock",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
