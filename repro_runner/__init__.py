"""Everything that runs or watches torch; the only package that may import it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repro_runner.backends.mock import mock_backend

__all__ = ["mock_backend"]

# Imported when asked for: they import torch, which takes seconds, and `graphbreak --help` works without it.
_HOMES = {"mock_backend": "repro_runner.backends.mock"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
