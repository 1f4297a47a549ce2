"""Evidence files as documents: put a run in, join two, write the same bytes for the same content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from registry.documents import check_data_file, head
from registry.errors import InvalidInput, Problem
from registry.evidence import KIND, SCHEMA

Document = dict[str, Any]

_IDENTITY = ("torch", "python", "device")
"""What makes an environment; the other fields are left out of comparisons."""


def new_document(environment: Mapping[str, str]) -> Document:
    """An evidence file with no records yet."""
    return {**head(KIND, SCHEMA), "environment": dict(environment), "records": {}}


def file_name(environment: Mapping[str, str]) -> str:
    """The file in `registry/evidence/` that an environment has."""
    return f"torch-{environment['torch']}-{environment['device']}.json"


def parse_document(text: str, where: str) -> Document:
    """Read an evidence file whole; a newer schema or another kind is refused."""
    try:
        document = json.loads(text)
        document["environment"], document["records"]
        return check_data_file(document, {KIND: SCHEMA}, where=f"{where}:1", remedy="name another file")
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            [Problem(f"{where}:1", f"not an evidence file ({error!r}); delete it and run again")]
        ) from error


def put_run(
    document: Document,
    gb_id: str,
    repro_sha256: str,
    backend: str,
    run: Mapping[str, Any],
    environment: Mapping[str, str],
) -> Document:
    """Replace one id × backend. Runs of another version of the repro go; the date changes only if a record does."""
    before = document["records"].get(gb_id)
    same_repro = before is not None and before["repro_sha256"] == repro_sha256
    runs = {**(before["runs"] if same_repro else {}), backend: dict(run)}
    record = {"repro_sha256": repro_sha256, "runs": runs}
    if record == before:
        return document
    return {
        **document,
        "environment": dict(environment),
        "records": {**document["records"], gb_id: record},
    }


def merge_documents(documents: Iterable[tuple[str, Document]]) -> Document:
    """Join shards of one environment into the file that one run would have written."""
    merged: Document | None = None
    problems: list[Problem] = []
    for where, document in documents:
        if merged is None:
            merged = {**document, "records": dict(document["records"])}
            continue
        if _identity(document) != _identity(merged):
            problems.append(Problem(f"{where}:1", f"made in {_identity(document)}, not in {_identity(merged)}"))
            continue
        merged["environment"]["date"] = max(
            merged["environment"].get("date", ""), document["environment"].get("date", "")
        )
        for gb_id, record in document["records"].items():
            problems += _join(merged["records"], gb_id, record, where)
    if problems or merged is None:
        raise InvalidInput(problems or [Problem("merge", "nothing to merge")])
    return merged


def lay_over(
    before: Document, where: str, newer: Iterable[tuple[str, Document]], current: Mapping[str, str]
) -> Document:
    """Put newer runs over a file, as if they had been made into it; what they lack stays.

    `current` is gb_id -> sha256 of the program as it is now: runs of another version of it are left out. If in the end
    no record is another, `before` itself comes back, with its date.
    """
    after = before
    problems: list[Problem] = []
    for path, document in newer:
        if _identity(document) != _identity(before):
            problems.append(Problem(f"{path}:1", f"made in {_identity(document)}, but {where} in {_identity(before)}"))
            continue
        for gb_id, record in document["records"].items():
            if record["repro_sha256"] == current.get(gb_id):
                for backend, run in record["runs"].items():
                    after = put_run(after, gb_id, current[gb_id], backend, run, document["environment"])
    if problems:
        raise InvalidInput(problems)
    return before if after["records"] == before["records"] else after


def runs_of(document: Document) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(gb_id, backend) -> run, sorted."""
    return {
        (gb_id, backend): run
        for gb_id, record in sorted(document["records"].items())
        for backend, run in sorted(record["runs"].items())
        if run
    }


def changed_runs(before: Document, after: Document) -> Iterator[tuple[str, str, str, str]]:
    """Yield (gb_id, backend, old verdict, new verdict) of every run that is another; the verdicts may be the same."""
    old, new = runs_of(before), runs_of(after)
    for gb_id, backend in sorted(old.keys() | new.keys()):
        was, now = old.get((gb_id, backend)), new.get((gb_id, backend))
        if was != now:
            yield gb_id, backend, _verdict(was), _verdict(now)


def _verdict(run: Mapping[str, Any] | None) -> str:
    return str(run["verdict"]) if run else "not run"


def _identity(document: Document) -> str:
    return " ".join(str(document["environment"].get(key, "")) for key in _IDENTITY)


def _join(records: dict[str, Any], gb_id: str, record: Mapping[str, Any], where: str) -> list[Problem]:
    known = records.get(gb_id)
    if known is None:
        records[gb_id] = record
        return []
    if known["repro_sha256"] != record["repro_sha256"]:
        return [Problem(f"{where}:1", f"{gb_id}: made from another version of its repro; run that shard again")]
    records[gb_id] = {**known, "runs": {**known["runs"], **record["runs"]}}
    return []


def dump_document(document: Document) -> str:
    """Sorted, one record per group of lines, no timings."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
