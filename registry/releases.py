"""Per torch release: which ids are registered, with what wording, emitted from which source line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from registry.callsites import Emission, find_emissions
from registry.datafile import read_data_file, shown
from registry.documents import check_data_file, head
from registry.errors import InvalidInput, Problem
from registry.hints import split_literals
from registry.model import CallSite, Release, Revision, Wordings
from registry.versions import version_key

KIND = "release"
SCHEMA = 1
SOURCES_IN_WHEEL = re.compile(r"torch/(_dynamo|_subclasses|_higher_order_ops)/.*\.py")
"""_dynamo holds all but a few emitting calls; the neighbours are read because some live there (meta_utils)."""


def make_release(torch: str, wheel: str, wordings: Wordings, sources: Mapping[str, str], built: str = "") -> Release:
    """Build a release from its registry (in file order) and its Python sources (path -> text)."""
    emissions = [found for file in sorted(sources) for found in find_emissions(sources[file], file)]
    ids = ids_by_type(wordings)
    return Release(
        torch=torch,
        wheel=wheel,
        wordings=dict(sorted(wordings.items())),
        call_sites=tuple(_call_site(found, ids.get(found.gb_type), wordings) for found in emissions),
        built=built,
    )


def ids_by_type(wordings: Wordings) -> dict[str, str]:
    """Map every gb_type, old ones included, to the id torch prints: the last one in file order."""
    return {revision.gb_type: gb_id for gb_id, revisions in wordings.items() for revision in revisions}


def _call_site(found: Emission, gb_id: str | None, wordings: Wordings) -> CallSite:
    registered = wordings.get(gb_id, ()) if gb_id else ()
    joined = {hint for revision in registered for hint in split_literals(revision.hints, found.hints)}
    return CallSite(
        gb_type=found.gb_type,
        gb_id=gb_id,
        file=found.file,
        line=found.line,
        function=found.function,
        joined_hints=tuple(sorted(joined)),
    )


def dump_release(release: Release) -> str:
    """Return the text of `registry/releases/<torch>.json`: sorted, one call site per line."""
    call_sites = [
        {
            "gb_id": site.gb_id,
            "gb_type": site.gb_type,
            "file": site.file,
            "line": site.line,
            "function": site.function,
        }
        | ({"joined_hints": list(site.joined_hints)} if site.joined_hints else {})
        for site in release.call_sites
    ]
    start = {**head(KIND, SCHEMA), "torch": release.torch, "wheel": release.wheel}
    start |= {"built": release.built} if release.built else {}
    lines = ["{"]
    lines += [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in start.items()]
    wordings = [f"{_line(gb_id)}: {_line([_plain(one) for one in found])}" for gb_id, found in release.wordings.items()]
    lines += _block("registry", "{}", wordings)
    lines[-1] += ","
    lines += _block("call_sites", "[]", [_line(site) for site in call_sites])
    return "\n".join([*lines, "}", ""])


def _block(key: str, brackets: str, items: Iterable[str]) -> list[str]:
    return [f' "{key}": {brackets[0]}', ",\n".join(f"  {item}" for item in items), f" {brackets[1]}"]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(revision: Revision) -> dict[str, object]:
    return {
        "gb_type": revision.gb_type,
        "context": revision.context,
        "explanation": revision.explanation,
        "hints": list(revision.hints),
    }


def parse_release(text: str, where: str) -> Release:
    """Read what `dump_release` wrote; anything else is InvalidInput."""
    try:
        content = json.loads(text)
        check_data_file(content, {KIND: SCHEMA}, where=f"{where}:1", remedy="move this file elsewhere")
        return Release(
            torch=content["torch"],
            wheel=content["wheel"],
            wordings={gb_id: tuple(map(_load_revision, found)) for gb_id, found in content["registry"].items()},
            call_sites=tuple(_load_call_site(site) for site in content["call_sites"]),
            built=content.get("built", ""),
        )
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        remedy = "delete it and run `python generate_site.py --pull-releases`"
        raise InvalidInput([Problem(f"{where}:1", f"not a release file ({error!r}); {remedy}")]) from error


def _load_revision(entry: Mapping[str, Any]) -> Revision:
    return Revision(
        gb_type=entry["gb_type"],
        context=entry["context"],
        explanation=entry["explanation"],
        hints=tuple(entry["hints"]),
    )


def _load_call_site(site: Mapping[str, Any]) -> CallSite:
    return CallSite(
        gb_type=site["gb_type"],
        gb_id=site["gb_id"],
        file=site["file"],
        line=site["line"],
        function=site["function"],
        joined_hints=tuple(site.get("joined_hints", ())),
    )


def read_releases(folder: Path) -> tuple[Release, ...]:
    """Read every release file, oldest release first."""
    releases = [parse_release(read_data_file(path), shown(path)) for path in sorted(folder.glob("*.json"))]
    return tuple(sorted(releases, key=lambda release: version_key(release.torch)))
