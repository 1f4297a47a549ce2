"""Result files of the runner: what was seen when a repro ran in an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from registry.model import COUNTS_SINCE, Environment, Evidence
from registry.result_files import parse_environment, read_result_files

KIND = "evidence"
SCHEMA = 3
BACKENDS = ("eager", "inductor", "mock")
"""What every repro is run under."""


def read_evidence(folder: Path) -> dict[str, tuple[Evidence, ...]]:
    """Return name of a program -> evidence, one per environment, oldest release first."""
    merged: dict[str, tuple[Evidence, ...]] = {}
    for records in read_result_files(folder, KIND, SCHEMA, _parse_evidence):
        for name, evidence in records.items():
            merged[name] = (*merged.get(name, ()), evidence)
    return {name: tuple(sorted(found, key=lambda seen: seen.environment.order)) for name, found in merged.items()}


def _parse_evidence(content: Mapping[str, Any], _name: str) -> dict[str, Evidence]:
    environment = parse_environment(content["environment"])
    return {name: _evidence_of(record, environment) for name, record in content["records"].items()}


def _evidence_of(record: Mapping[str, Any], environment: Environment) -> Evidence:
    runs = record["runs"]
    eager = runs.get("eager", {})
    fixes = eager.get("fixes", {})
    return Evidence(
        environment=environment,
        repro_sha256=record["repro_sha256"],
        verdicts={backend: _verdict(run) for backend, run in runs.items() if run},
        message=next((run["message"] for run in runs.values() if run.get("message")), ""),
        fixes={name: _holds(fix) for name, fix in fixes.items()},
        gradients={name: fix.get("gradient", "") for name, fix in fixes.items()},
        tried={name: tuple(fix.get("tried", ())) for name, fix in fixes.items()},
        never_reached={name: tuple(fix.get("never_reached", ())) for name, fix in fixes.items()},
        fails_with=_fails_with(runs, [name for name, fix in fixes.items() if _holds(fix)]),
        verifier=eager.get("verifier", 1),
        ids=tuple(eager.get("ids", ())),
        kind=eager.get("kind", ""),
        graphs=eager.get("graphs"),
        function=eager.get("function", ""),
        line=eager.get("line"),
    )


def _fails_with(runs: Mapping[str, Any], held: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for backend, run in sorted(runs.items()):
        fixes = run.get("fixes", {})
        for name in held:
            if name in fixes and not _holds(fixes[name]):
                found.setdefault(name, {})[backend] = "in training" if fixes[name].get("gradient") else "always"
    return found


def _holds(fix: Mapping[str, Any]) -> bool:
    return bool(fix.get("holds", fix["compiles"] and not fix["breaks"] and fix["equal"]))  # schema 1 has no `holds`


def _verdict(run: Mapping[str, Any]) -> str:
    is_earlier = run.get("verifier", 1) < COUNTS_SINCE
    return "reproduced" if is_earlier and run["verdict"] == "verified" else str(run["verdict"])
