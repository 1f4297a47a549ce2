"""The API: all ids in one file, and everything about each in a file of its own. docs/api.md is its promise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from registry.model import (
    CallSite,
    CapturedProgram,
    Category,
    DatedRevision,
    Evidence,
    Example,
    Finding,
    FindingScript,
    GraphBreak,
    InRelease,
    Registry,
    Repro,
    Sighting,
)
from registry.snippets import Program, Programs
from registry.standalone import standalone
from registry.taxonomy import UNCATEGORISED
from sitegen.api_links import API, json_file, links_from, printed_link, script_file
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show
from sitegen.changes import changes_in
from sitegen.facets import facets_of
from sitegen.links import source_url

VERSION = 1


def render_api(registry: Registry) -> dict[str, str]:
    """Return {path under docs/: text}: the list of all ids."""
    return {f"{API}/registry.json": _dump(_registry(registry, choices(registry)))}


def render_break(gb: GraphBreak, releases: Iterable[str], programs: Programs) -> dict[str, str]:
    """Return {path under docs/: text}: one id, and its programs."""
    scripts = {script_file(one.repro): standalone(one.repro) for one in gb.programs}
    return {json_file(gb): _dump(_graph_break(gb, releases, programs)), **scripts}


def _dump(document: Mapping[str, Any]) -> str:
    """A line per field; of what holds objects, a line for each of these: a diff is as small as what changed."""
    return "{\n" + ",\n".join(f"{_on_one_line(name)}: {_field(value)}" for name, value in document.items()) + "\n}\n"


def _field(value: Any) -> str:
    if isinstance(value, list) and isinstance(next(iter(value), None), dict):
        return "[\n" + ",\n".join(map(_on_one_line, value)) + "\n]"
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), dict):
        items = (f"{_on_one_line(name)}: {_on_one_line(one)}" for name, one in value.items())
        return "{\n" + ",\n".join(items) + "\n}"
    return _on_one_line(value)


_on_one_line = json.JSONEncoder(ensure_ascii=False).encode


def _registry(registry: Registry, releases: Iterable[str]) -> dict[str, Any]:
    return {
        "$schema": "schema/registry.json",
        "version": VERSION,
        "origin": asdict(registry.origin),
        "counts": _counts(registry),
        "releases": [_release(registry, torch) for torch in registry.releases],
        "kinds": [_kind(registry, category) for category in (*registry.categories, UNCATEGORISED)],
        "environments": [asdict(environment) for environment in registry.environments],
        "without_id": [_without_id(registry, site) for site in registry.unregistered],
        "programs": [_program(registry, program) for program in registry.programs],
        "graph_breaks": [_summary(gb, releases, API) for gb in registry],
    }


def _counts(registry: Registry) -> dict[str, Any]:
    return {
        "ids": len(registry),
        "lifecycle": dict(sorted(Counter(gb.lifecycle for gb in registry).items())),
        "status": dict(sorted(Counter(gb.status for gb in registry).items())),
    }


def _release(registry: Registry, torch: str) -> dict[str, Any]:
    seen = [one for gb in registry for one in gb.history.releases if one.torch == torch]
    return {
        "torch": torch,
        "built": registry.built.get(torch),
        "registered": sum(one.registered for one in seen),
        "live": sum(one.live for one in seen),
    }


def _kind(registry: Registry, category: Category) -> dict[str, Any]:
    return {
        "key": category.key,
        "title": category.title,
        "why": category.why,
        "way_out": category.way_out,
        "ids": [gb.gb_id for gb in registry.in_category(category.key)],
    }


def _without_id(registry: Registry, site: CallSite) -> dict[str, Any]:
    return {"title": site.gb_type, **_call_site(site, registry.releases[-1])}


def _program(registry: Registry, program: CapturedProgram) -> dict[str, Any]:
    return {
        "name": program.name,
        "about": program.about or None,
        "environment": asdict(program.environment),
        "totals": dict(program.totals),
        "ids": [gb.gb_id for gb in registry if any(one.name == program.name for one in gb.sightings)],
    }


def _summary(gb: GraphBreak, releases: Iterable[str], folder: str) -> dict[str, Any]:
    """What the list and the file of one id have in common; links are seen from `folder`."""
    facets = facets_of(gb)
    return {
        "id": gb.gb_id,
        "title": gb.gb_type,
        **links_from(folder, gb),
        "kind": gb.category,
        "status": gb.status,
        "statuses": {torch: gb.status_in(torch) for torch in releases if torch},
        "lifecycle": gb.lifecycle,
        "lead": gb.repro.lead if gb.repro else None,
        "first_release": gb.history.first_release,
        "last_live_release": gb.history.last_live,
        "retired_in": gb.history.retired_in,
        "devices": list(facets.get("device", ())),
        "fix_kinds": list(facets.get("fix", ())),
        "has_note": bool(gb.note),
        "gaps": list(gb.newest.gaps),
    }


def _graph_break(gb: GraphBreak, releases: Iterable[str], programs: Programs) -> dict[str, Any]:
    proofs = [_proof(one, programs) for one in gb.programs]
    return {
        "$schema": "../schema/graph-break.json",
        "version": VERSION,
        **_summary(gb, releases, f"{API}/gb"),
        "printed_link": printed_link(gb),
        "registered": gb.registered,
        "wordings": [_wording(dated) for dated in gb.revisions],
        "history": [_in_release(gb, seen) for seen in gb.history.releases],
        **(proofs[0] if proofs else _NO_PROOF),
        "examples": [
            {"name": one.repro.name, "script": script_file(one.repro).removeprefix(f"{API}/gb/"), **proof}
            for one, proof in zip(gb.examples, proofs[1:], strict=True)
        ],
        "unreached": asdict(gb.unreached) if gb.unreached else None,
        "findings": list(map(_finding, gb.findings)),
        "sightings": [_sighting(one) for one in gb.sightings],
        "note": {"text": gb.note.text, "written_for": gb.note.written_for} if gb.note else None,
    }


_NO_PROOF: dict[str, Any] = {"repro": None, "message": None, "evidence": []}


def _proof(one: Example, programs: Programs) -> dict[str, Any]:
    program = programs[one.repro.name]
    return {
        "repro": _repro(one.repro, program),
        "message": _message(one),
        "evidence": [_evidence(seen, program if seen in one.fresh_evidence else None) for seen in one.evidence],
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "finding": one.finding,
        "evidence": one.evidence,
        "script": _script(one.script) if one.script else None,
    }


def _script(script: FindingScript) -> dict[str, Any]:
    runs = ({"environment": asdict(run.environment), "wrong": run.is_wrong} for run in script.runs)
    return {"title": script.title, "source": script.source, "runs": list(runs)}


def _sighting(one: Sighting) -> dict[str, Any]:
    return {
        "name": one.name,
        "about": one.about or None,
        "environment": asdict(one.environment),
        "count": one.compiled,
        "sites": one.sites,
        "ran": one.ran,
    }


def _wording(dated: DatedRevision) -> dict[str, Any]:
    return {
        "title": dated.revision.gb_type,
        "context": dated.revision.context,
        "explanation": dated.revision.explanation,
        "hints": ["".join(fragments) for fragments in dated.hints],
        "releases": list(dated.releases),
    }


def _in_release(gb: GraphBreak, seen: InRelease) -> dict[str, Any]:
    return {
        "torch": seen.torch,
        "registered": seen.registered,
        "live": seen.live,
        "changes": list(changes_in(gb.history, seen.torch)),
        "call_sites": [_call_site(site, seen.torch) for site in seen.call_sites],
    }


def _call_site(site: CallSite, torch: str) -> dict[str, Any]:
    return {"file": site.file, "line": site.line, "function": site.function, "url": source_url(site, torch)}


def _repro(repro: Repro, program: Program) -> dict[str, Any]:
    return {
        "title": repro.title or None,
        "lead": repro.lead,
        "source": repro.source,
        "sha256": repro.sha256,
        "reach": repro.reach,
        "neighbour": repro.neighbour or None,
        "eager_raises": repro.eager_raises or None,
        "no_fix": repro.no_fix or None,
        "fixes": [
            {
                "name": fix.name,
                "kind": fix.kind,
                "when": fix.when,
                "changes_gradients": repro.gradient.get(fix.name),
                "other_effects": repro.effects.get(fix.name),
                "limits": dict(repro.limits.get(fix.name, {})),
            }
            for fix in program.fixes
        ],
        "isolated": [{"name": one.name, "when": one.when} for one in program.isolated],
    }


def _message(one: Example) -> dict[str, Any] | None:
    seen = evidence_to_show(one)
    if seen is None:
        return None
    return {"text": seen.message, "torch": seen.environment.torch, "device": seen.environment.device}


def _evidence(seen: Evidence, program: Program | None) -> dict[str, Any]:
    """A record; without a program, it is of an older one."""
    return {
        "environment": asdict(seen.environment),
        "current": program is not None,
        "verifier": seen.verifier,
        "verdicts": dict(sorted(seen.verdicts.items())),
        "message": seen.message or None,
        "ids": list(seen.ids),
        "outcome": seen.kind or None,
        "graphs": seen.graphs,
        "line": program.line(seen.function, seen.line) if program and seen.line else None,
        "fixes": dict(sorted(seen.fixes.items())),
        "gradients": {name: said for name, said in sorted(seen.gradients.items()) if said},
        "fails_with": {name: dict(sorted(where.items())) for name, where in sorted(seen.fails_with.items())},
    }
