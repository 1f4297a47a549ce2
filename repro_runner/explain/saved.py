"""Saved runs, read again: what `graphbreak explain --save` or `log --format json` wrote, or a file of captured/."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry import captured
from registry.errors import InvalidInput, Problem
from registry.ids import local_id
from registry.model import CapturedProgram
from repro_runner.explain import document
from repro_runner.explain.report import Report, Totals
from repro_runner.explain.site import Frequency, Site

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
_LOG = "log"
_NEWEST = {document.KIND: document.SCHEMA, captured.KIND: captured.SCHEMA, _LOG: 1}


def read_saved(path: Path) -> Report | CapturedProgram:
    """What the file says it is; InvalidInput with the remedy for what is neither."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise _refused(path, f"{error.strerror}; `graphbreak explain SCRIPT --save FILE` writes one") from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"no JSON ({error}); `graphbreak explain SCRIPT --save FILE` writes one") from error
    if not isinstance(content, Mapping) or content.get("kind") not in _NEWEST:
        raise _refused(path, "no saved run; `graphbreak explain SCRIPT --save FILE` writes one")
    kind, schema = content["kind"], content.get("schema")
    if not isinstance(schema, int) or schema > _NEWEST[kind]:
        raise _refused(path, f"schema {schema!r} is newer than {_NEWEST[kind]}; update this project")
    try:
        return _parse(kind, content, path)
    except _MALFORMED as error:
        raise _refused(path, f"a damaged file ({error!r}); save the run again") from error


def _parse(kind: str, content: Mapping[str, Any], path: Path) -> Report | CapturedProgram:
    if kind == captured.KIND:
        return captured.parse_captured(content, path.stem)
    if kind == _LOG:
        return _report_of_log(content)
    return document.report_from_document(content)


def _report_of_log(content: Mapping[str, Any]) -> Report:
    """What a log tells of a program: no log counts how often a break ran, and few name their torch."""
    return Report(
        environment={"torch": content["torch"]},
        sites=tuple(_logged_site(one) for one in content["breaks"] if one["gb_types"]),
        totals=Totals(graphs=content["graphs"] or 0),
    )


def _logged_site(one: Mapping[str, Any]) -> Site:
    fields = ("file", "line", "function", "source", "kind", "message", "context", "explanation")
    return Site(
        **{field: one[field] for field in fields},
        gb_ids=tuple(one["gb_ids"]) or tuple(map(local_id, one["gb_types"])),
        gb_types=tuple(one["gb_types"]),
        hints=tuple(one["hints"]),
        compiled=one["count"],
        frequency=Frequency(ran=None, why_unknown="a log tells of compilations"),
    )


def _refused(path: Path, why: str) -> InvalidInput:
    return InvalidInput([Problem(str(path), why)])
