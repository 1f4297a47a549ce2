"""Backends for `torch.compile` that stand in for a device."""

from repro_runner.backends.graph_dumps import ArtifactsWarning, keep_artifacts
from repro_runner.backends.mock import make_mock_backend, mock_backend
from repro_runner.backends.refusals import (
    ConstraintViolations,
    ConstraintWarning,
    MalformedSettings,
    MockBackendError,
    collect_violations,
)

__all__ = [
    "ArtifactsWarning",
    "ConstraintViolations",
    "ConstraintWarning",
    "MalformedSettings",
    "MockBackendError",
    "collect_violations",
    "keep_artifacts",
    "make_mock_backend",
    "mock_backend",
]
