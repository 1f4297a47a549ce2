"""What people saw in their own programs: the files in `captured/`, read and put into words again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.documents import head
from registry.errors import InvalidInput, Problem
from registry.model import CapturedProgram, Revision, SeenBreak
from registry.result_files import parse_environment, read_result_files

KIND = "captured"
SCHEMA = 1

NAME_RULE = "small letters, digits, dots, dashes and underscores, at most 64"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def is_name(name: str) -> bool:
    """Whether a program may be called so: its name is that of a file on any disk, and part of an address."""
    return _NAME.fullmatch(name) is not None and not name.endswith(".")


def read_captured(folder: Path) -> tuple[CapturedProgram, ...]:
    """Return every captured program, by name."""
    return tuple(read_result_files(folder, KIND, SCHEMA, _parse_named))


def _parse_named(content: Mapping[str, Any], name: str) -> CapturedProgram:
    if not is_name(name):
        raise InvalidInput([Problem(f"registry/captured/{name}.json:1", f"rename it: {NAME_RULE}")])
    return parse_captured(content, name)


def parse_captured(content: Mapping[str, Any], name: str) -> CapturedProgram:
    """A file's content; KeyError, TypeError, ValueError or AttributeError for what is none."""
    return CapturedProgram(
        name=name,
        about=str(content.get("about", "")),
        environment=parse_environment(content["environment"]),
        totals={key: int(value) for key, value in content["totals"].items()},
        breaks=tuple(_seen_break(entry) for entry in content["breaks"]),
    )


def _seen_break(entry: Mapping[str, Any]) -> SeenBreak:
    return SeenBreak(
        gb_id=entry["gb_id"],
        wording=Revision(
            gb_type=entry["gb_type"],
            context=entry["context"],
            explanation=entry["explanation"],
            hints=tuple(entry["hints"]),
        ),
        sites=int(entry["sites"]),
        compiled=int(entry["compiled"]),
        ran=None if entry["ran"] is None else int(entry["ran"]),
        kinds={kind: int(sites) for kind, sites in entry["kinds"].items()},
    )


def captured_document(program: CapturedProgram) -> dict[str, Any]:
    """The file's content; the name is the file's own."""
    environment = program.environment
    return {
        **head(KIND, SCHEMA),
        "about": program.about,
        "environment": {
            "torch": environment.torch,
            "python": environment.python,
            "device": environment.device,
            "date": environment.date,
        },
        "totals": dict(program.totals),
        "breaks": [_entry(one) for one in program.breaks],
    }


def _entry(one: SeenBreak) -> dict[str, Any]:
    return {
        "gb_id": one.gb_id,
        "gb_type": one.wording.gb_type,
        "context": one.wording.context,
        "explanation": one.wording.explanation,
        "hints": list(one.wording.hints),
        "sites": one.sites,
        "compiled": one.compiled,
        "ran": one.ran,
        "kinds": dict(one.kinds),
    }


def dump_captured(program: CapturedProgram) -> str:
    """Sorted, no timings: the same program gives the same bytes."""
    return json.dumps(captured_document(program), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
