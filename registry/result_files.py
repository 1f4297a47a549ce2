"""What evidence files and captured files share: a kind, a schema, an environment; all their problems at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from registry.datafile import read_data_file, shown
from registry.documents import check_data_file, document_text, head
from registry.errors import InvalidInput, Problem
from registry.model import Environment

_Parsed = TypeVar("_Parsed")


def parse_environment(content: Mapping[str, Any]) -> Environment:
    """Where something ran, as the head of a result file has it."""
    return Environment(
        torch=content["torch"],
        python=content.get("python", ""),
        device=content.get("device", ""),
        date=content.get("date", ""),
    )


def read_result_files(
    folder: Path, kind: str, schema: int, parse: Callable[[Mapping[str, Any], str], _Parsed]
) -> list[_Parsed]:
    """Every file of a folder, parsed with its name; InvalidInput with what is wrong in any of them."""
    parsed: list[_Parsed] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.json")):
        where = f"{shown(path)}:1"
        try:
            content = json.loads(read_data_file(path))
            check_data_file(content, {kind: schema}, where=where, remedy="move this file elsewhere")
            parsed.append(parse(content, path.stem))
        except InvalidInput as error:
            problems += error.problems
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(Problem(where, f"no {kind} in this file ({error!r}); make it again or delete it"))
    if problems:
        raise InvalidInput(problems)
    return parsed


def result_text(kind: str, schema: int, environment: Mapping[str, str], records: Mapping[str, Any]) -> str:
    """The text of a file with what was run in one environment, sorted by name."""
    return document_text(
        {**head(kind, schema), "environment": dict(environment), "records": dict(sorted(records.items()))}
    )
