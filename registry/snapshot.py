"""The last good upstream registry, where and when it came from, and what upstream has dropped since.

Three files, written in this order, each atomically:

superseded.json              wordings that upstream's main once had and no longer has, whole ids included
graph_break_registry.json    upstream's own bytes: its order decides which id a gb_type gets, so it is not sorted
origin.json                  source, date, digest and the validators for the next conditional GET

`kill -9` between any two of them loses nothing. After the first, a wording that is about to go stands in both files,
which reading takes back to one. After the second, the digest in origin.json does not match the registry, so its ETag
is not used and the next pull fetches everything again. In another order a wording could be in neither file, or an
ETag could vouch for a registry that was never written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from registry.errors import InvalidInput, Problem
from registry.model import Origin, Revision, Wordings
from registry.upstream import dump_registry, parse_registry

REGISTRY_FILE = "graph_break_registry.json"
ORIGIN_FILE = "origin.json"
SUPERSEDED_FILE = "superseded.json"
SNAPSHOT_FOLDER = Path(__file__).parent / "snapshot"

_REMEDY = "`git checkout registry/snapshot` brings the last good one back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The content of registry/snapshot/."""

    raw: bytes
    wordings: dict[str, tuple[Revision, ...]]
    """In file order, as upstream.parse_registry gives them."""
    origin: Origin
    superseded: dict[str, tuple[Revision, ...]]
    """What upstream once had and `wordings` lacks; newest first."""
    warnings: tuple[Problem, ...] = ()


def read_snapshot(folder: Path = SNAPSHOT_FOLDER) -> Snapshot:
    """Read all three files; raise InvalidInput when one is missing or damaged."""
    raw = _read(folder / REGISTRY_FILE)
    parsed = parse_registry(raw, str(folder / REGISTRY_FILE))
    superseded = parse_registry(_read(folder / SUPERSEDED_FILE), str(folder / SUPERSEDED_FILE), may_be_empty=True)
    origin = _parse_origin(_read(folder / ORIGIN_FILE), str(folder / ORIGIN_FILE))
    if origin.sha256 != sha256(raw):
        origin = replace(origin, etag="", last_modified="")
    return Snapshot(
        raw=raw,
        wordings=parsed.wordings,
        origin=origin,
        superseded=_subtract(superseded.wordings, parsed.wordings),
        warnings=parsed.warnings,
    )


def plan_snapshot(old: Snapshot, raw: bytes, wordings: Wordings, origin: Origin) -> dict[str, str]:
    """Return {file name: text} in the order in which to write, each as UTF-8 with its line ends as they are.

    A wording that comes back upstream leaves `Snapshot.superseded` at once, but the file only at the next change:
    dropping it from there before the new registry is on the disk could lose it.
    """
    files = {}
    if raw != old.raw:
        lost = _subtract(old.wordings, wordings)
        files[SUPERSEDED_FILE] = dump_registry(_unite(lost, old.superseded))
    files[REGISTRY_FILE] = raw.decode("utf-8")
    files[ORIGIN_FILE] = json.dumps(asdict(origin), indent=2, ensure_ascii=False) + "\n"
    return files


def superseded_by(old: Snapshot, wordings: Wordings) -> dict[str, tuple[Revision, ...]]:
    """What the snapshot had, now or before, and `wordings` lacks; newest first."""
    return _unite(_subtract(old.wordings, wordings), _subtract(old.superseded, wordings))


def sha256(raw: bytes) -> str:
    """The digest that Origin carries."""
    return hashlib.sha256(raw).hexdigest()


def _subtract(wordings: Wordings, present: Wordings) -> dict[str, tuple[Revision, ...]]:
    """The revisions that `present` does not have under the same id."""
    rest = {
        gb_id: tuple(revision for revision in revisions if revision not in present.get(gb_id, ()))
        for gb_id, revisions in wordings.items()
    }
    return {gb_id: revisions for gb_id, revisions in rest.items() if revisions}


def _unite(newer: Wordings, older: Wordings) -> dict[str, tuple[Revision, ...]]:
    return {gb_id: tuple(dict.fromkeys((*newer.get(gb_id, ()), *older.get(gb_id, ())))) for gb_id in {**newer, **older}}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput([Problem(str(path), f"{error.strerror}; {_REMEDY}")]) from None


def _parse_origin(raw: bytes, where: str) -> Origin:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput([Problem(where, f"not JSON; {_REMEDY}")]) from None
    if not isinstance(document, dict):
        raise InvalidInput([Problem(where, f"not a JSON object; {_REMEDY}")])
    problems = [Problem(where, message) for message in _origin_problems(document)]
    if problems:
        raise InvalidInput(problems)
    return Origin(**document)


def _origin_problems(document: dict[str, object]) -> Iterable[str]:
    names = {field.name for field in fields(Origin)}
    for name in sorted(names - document.keys()):
        yield f'"{name}" is missing; {_REMEDY}'
    for name in sorted(document.keys() - names):
        yield f"{json.dumps(name)} does not belong here; {_REMEDY}"
    for name in sorted(names & document.keys()):
        value = document[name]
        if not isinstance(value, str) or not value.isprintable():
            yield f'"{name}" has to be a string on one line; {_REMEDY}'
