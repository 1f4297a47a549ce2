"""Result files of the runner: what was seen when a repro ran in an environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.model import Evidence
from registry.releases import version_key
from registry.result_files import parse_environment, read_result_files

KIND = "evidence"
SCHEMA = 1
BACKENDS = ("eager", "inductor", "mock")
"""What every repro is run under."""


def read_evidence(folder: Path) -> dict[str, tuple[Evidence, ...]]:
    """Return gb_id -> evidence, one per environment, oldest release first."""
    merged: dict[str, tuple[Evidence, ...]] = {}
    for records in read_result_files(folder, KIND, SCHEMA, _parse_evidence):
        for gb_id, evidence in records.items():
            merged[gb_id] = (*merged.get(gb_id, ()), evidence)
    return {gb_id: tuple(sorted(found, key=_place)) for gb_id, found in merged.items()}


def _place(evidence: Evidence) -> tuple[object, ...]:
    environment = evidence.environment
    return version_key(environment.torch), environment.device, environment.python


def _parse_evidence(content: Mapping[str, Any], _name: str) -> dict[str, Evidence]:
    environment = parse_environment(content["environment"])
    return {
        gb_id: Evidence(
            environment=environment,
            repro_sha256=record["repro_sha256"],
            verdicts={backend: run["verdict"] for backend, run in record["runs"].items() if run},
            message=next((run["message"] for run in record["runs"].values() if run.get("message")), ""),
            fixes={
                name: fix["compiles"] and not fix["breaks"] and fix["equal"]
                for name, fix in record["runs"].get("eager", {}).get("fixes", {}).items()
            },
            ids=tuple(record["runs"].get("eager", {}).get("ids", ())),
            kind=record["runs"].get("eager", {}).get("kind", ""),
            graphs=record["runs"].get("eager", {}).get("graphs"),
            line=record["runs"].get("eager", {}).get("line"),
        )
        for gb_id, record in content["records"].items()
    }
