"""Violations as a document of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from repro_runner.constraints.base import Violation


def violations_document(violations: Iterable[Violation]) -> dict[str, Any]:
    """The content of violations.json."""
    return {"kind": "violations", "schema": 1, "violations": [violation_record(each) for each in violations]}


def violation_record(violation: Violation) -> dict[str, Any]:
    """Plain JSON values; a dynamic dimension is its symbol."""
    record = dataclasses.asdict(violation)
    return {**record, "shape": None if violation.shape is None else list(violation.shape)}
