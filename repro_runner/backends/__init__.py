"""Backends for `torch.compile` that stand in for a device."""

from repro_runner.backends.mock import (
    ConstraintViolations,
    ConstraintWarning,
    MalformedSettings,
    MockBackendError,
    collect_violations,
    make_mock_backend,
    mock_backend,
)

__all__ = [
    "ConstraintViolations",
    "ConstraintWarning",
    "MalformedSettings",
    "MockBackendError",
    "collect_violations",
    "make_mock_backend",
    "mock_backend",
]
