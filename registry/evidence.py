"""Result files: what the runner saw (`evidence/`), and what people saw in their own programs (`captured/`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from registry.datafile import read_data_file, shown
from registry.errors import InvalidInput, Problem
from registry.model import Environment, Evidence, Revision, Sighting
from registry.releases import version_key

SCHEMA = 1

_Parsed = TypeVar("_Parsed")


def local_id(gb_type: str) -> str:
    """The id of a break that upstream has none for: stable, and two machines agree without talking."""
    return "GBL-" + hashlib.sha256(gb_type.encode("utf-8")).hexdigest()[:6].upper()


def read_evidence(folder: Path) -> dict[str, tuple[Evidence, ...]]:
    """Return gb_id -> evidence, one per environment, oldest release first."""
    merged: dict[str, tuple[Evidence, ...]] = {}
    for records in _read_all(folder, "evidence", _parse_evidence):
        for gb_id, evidence in records.items():
            merged[gb_id] = (*merged.get(gb_id, ()), evidence)
    return {gb_id: tuple(sorted(found, key=_place)) for gb_id, found in merged.items()}


def _place(evidence: Evidence) -> tuple[object, ...]:
    environment = evidence.environment
    return version_key(environment.torch), environment.device, environment.python


def _parse_evidence(content: Mapping[str, Any], _name: str) -> dict[str, Evidence]:
    environment = _environment(content["environment"])
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


def read_captured(folder: Path) -> tuple[tuple[Revision, Sighting], ...]:
    """Return every break seen in somebody's program: its wording, where, and how often."""
    return tuple(seen for file in _read_all(folder, "captured", _parse_captured) for seen in file)


def _parse_captured(content: Mapping[str, Any], name: str) -> list[tuple[Revision, Sighting]]:
    environment = _environment(content["environment"])
    return [
        (
            Revision(
                gb_type=entry["gb_type"],
                context=entry.get("context", ""),
                explanation=entry.get("explanation", ""),
                hints=tuple(entry.get("hints", ())),
            ),
            Sighting(name=name, environment=environment, count=int(entry["count"])),
        )
        for entry in content["breaks"]
    ]


def _environment(content: Mapping[str, Any]) -> Environment:
    return Environment(
        torch=content["torch"],
        python=content.get("python", ""),
        device=content.get("device", ""),
        date=content.get("date", ""),
    )


def _read_all(folder: Path, kind: str, parse: Callable[[Mapping[str, Any], str], _Parsed]) -> list[_Parsed]:
    parsed: list[_Parsed] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.json")):
        where = f"{shown(path)}:1"
        try:
            content = json.loads(read_data_file(path))
            if content["kind"] != kind:
                problems.append(Problem(where, f"kind is {content['kind']!r}, not {kind!r}; move this file elsewhere"))
            elif content["schema"] > SCHEMA:
                problems.append(
                    Problem(where, f"schema {content['schema']} is newer than {SCHEMA}; update the project")
                )
            else:
                parsed.append(parse(content, path.stem))
        except InvalidInput as error:
            problems += error.problems
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(Problem(where, f"no {kind} in this file ({error!r}); make it again or delete it"))
    if problems:
        raise InvalidInput(problems)
    return parsed
