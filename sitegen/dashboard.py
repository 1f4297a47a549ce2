"""The dashboard: every number counts a list that the home page can show, and links to it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from registry.findings import KINDS
from registry.ids import local_id
from registry.model import Category, Finding, GraphBreak, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.break_cost import break_costs
from sitegen.break_page import where_it_holds
from sitegen.by_release import choices
from sitegen.charts import Series, bars_chart, columns_chart, lines_chart
from sitegen.counts import Count, Lists
from sitegen.facets import EMITTED, STATUSES
from sitegen.links import source_label, source_url
from sitegen.programs import most_seen, program_rows
from sitegen.release_changes import wording_in

GAPS = ("context", "explanation", "hints")
VERDICT_ORDER = ("verified", "reproduced", "stopped", "other id", "not applicable", "failed")


def dashboard_context(registry: Registry) -> dict[str, Any]:
    """Everything `dashboard.md.j2` shows."""
    lists = Lists(registry)
    newest = registry.releases[-1] if registry.releases else ""
    releases = [_release_row(lists, torch, registry.built.get(torch, "")) for torch in registry.releases]
    chosen = choices(registry)
    coverage = [_coverage(lists, torch) for torch in chosen if torch]
    kinds = {torch: _kind_rows(registry, lists, torch) for torch in chosen}
    return {
        "registry": registry,
        "newest": newest,
        "origin": _origin(registry.origin.source),
        "tiles": _tiles(lists, newest),
        "statuses": STATUSES,
        "emitted": EMITTED,
        "choices": chosen,
        "coverage": coverage,
        "releases": list(reversed(releases)),
        "kinds": kinds,
        "charts": {**_charts(releases), "kinds": _kinds_chart(newest, kinds[newest])},
        "funnels": {one["torch"]: _funnel_chart(one) for one in coverage},
        "gaps": _gaps(lists),
        "with_gaps": [gb for gb in registry if gb.registered and gb.newest.gaps],
        "changes": _newest_changes(registry, lists),
        "environments": _environment_rows(registry, lists),
        "verdicts": VERDICT_ORDER,
        "notes": lists.count(note="yes"),
        "with_notes": [gb for gb in registry if gb.note],
        "findings": _findings(registry, lists),
        "unregistered": _unregistered(registry, newest),
        "costs": break_costs(registry),
        "most_seen": most_seen(registry),
        "programs": program_rows(registry, lists),
    }


def used_categories(registry: Registry) -> list[Category]:
    """Those that have an id, in the order of the taxonomy."""
    return [c for c in (*registry.categories, UNCATEGORISED) if registry.in_category(c.key)]


def _tiles(lists: Lists, newest: str) -> list[tuple[str, Count]]:
    live = [(f"emitted by torch {newest}", lists.count(live=newest))] if newest else []
    more = [
        ("retired: registered, but no longer emitted", lists.count(lifecycle="retired")),
        ("dropped: removed from the registry", lists.count(lifecycle="dropped")),
        ("captured by us, without an id in PyTorch", lists.count(lifecycle="local")),
        ("with a note from a person", lists.count(note="yes")),
        ("seen in small models with random weights", lists.count(seen="any")),
    ]
    return [("ids", lists.count()), *live, *(tile for tile in more if tile[1].number)]


def _coverage(lists: Lists, torch: str) -> dict[str, Any]:
    """What is proven of the ids that one release emits."""
    count = partial(lists.count, torch, live=torch)
    return {
        "torch": torch,
        "live": lists.count(live=torch),
        "steps": {
            "Registered": lists.count(registered=torch),
            "Emitted: its source reports it": lists.count(live=torch),
            "Reproduced: a program causes it": count(status="verified,reproduced"),
            "Verified: a fix works, too": count(status="verified"),
        },
        "by_status": {status: count(status=status) for status in EMITTED},
    }


def _release_row(lists: Lists, torch: str, built: str) -> dict[str, Any]:
    facets = ("registered", "live", "new", "reworded", "meaning", "retired")
    return {"torch": torch, "built": built, **{facet: lists.count(**{facet: torch}) for facet in facets}}


def _kind_rows(registry: Registry, lists: Lists, torch: str) -> list[dict[str, Any]]:
    """The kinds of breaks, by status in one release."""
    return [
        {
            "category": category,
            "total": lists.count(category=category.key),
            "live": lists.count(category=category.key, live=torch),
            "by_status": {one: lists.count(torch, category=category.key, status=one) for one in STATUSES},
            "notes": lists.count(category=category.key, note="yes"),
            "gaps": lists.count(category=category.key, gap=",".join(GAPS)),
        }
        for category in used_categories(registry)
    ]


def _kinds_chart(torch: str, rows: list[dict[str, Any]]) -> str:
    statuses = {status: name.lower() for status, name in STATUSES.items()}
    title = f"Ids by kind and status in torch {torch}" if torch else "Ids by kind and status"
    return bars_chart(title, {row["category"].title: row["by_status"] for row in rows}, statuses)


def _funnel_chart(coverage: dict[str, Any]) -> str:
    steps = {label: {"step": count} for label, count in coverage["steps"].items()}
    return bars_chart(f"From registered to verified, torch {coverage['torch']}", steps, {"step": ""})


def _charts(releases: list[dict[str, Any]]) -> dict[str, str]:
    charts = {}
    if releases:
        charts["ids"] = lines_chart(
            "Ids registered and emitted, by torch release", _along(releases, "registered", "live"), {"live": "emitted"}
        )
    if len(releases) > 1:  # everything is new in the first
        changes = _along(releases[1:], "new", "reworded", "retired")
        charts["changes"] = columns_chart(
            "Ids new, reworded and no longer emitted, by torch release",
            changes,
            {"retired": "no longer emitted"},
        )
    return charts


def _along(releases: list[dict[str, Any]], *series: str) -> Series:
    return {name: {row["torch"]: row[name] for row in releases} for name in series}


def _gaps(lists: Lists) -> list[tuple[str, Count]]:
    return [
        ("With any gap", lists.count(gap=",".join(GAPS))),
        *((f"No {field}", lists.count(gap=field)) for field in GAPS),
    ]


def _newest_changes(registry: Registry, lists: Lists) -> list[dict[str, Any]]:
    """What the newest release did, as the facets of the same names have it."""
    if len(registry.releases) < 2:
        return []
    before, newest = registry.releases[-2:]
    groups: dict[str, tuple[str, Iterable[GraphBreak]]] = {
        "new": ("New", (gb for gb in registry if gb.history.first_release == newest)),
        "reworded": ("Reworded", (gb for gb in registry if newest in gb.history.reworded_in)),
        "meaning": ("Meaning changed", (gb for gb in registry if newest in gb.history.meaning_changed_in)),
        "retired": ("No longer emitted", (gb for gb in registry if gb.history.retired_in == newest)),
    }
    rows = [
        {
            "name": name,
            "count": lists.count(**{facet: newest}),
            "breaks": [(gb, _earlier_title(gb, before, newest)) for gb in breaks],
        }
        for facet, (name, breaks) in groups.items()
    ]
    return [row for row in rows if row["breaks"]]


def _earlier_title(gb: GraphBreak, before: str, after: str) -> str:
    """The title that the release before had, if it is another."""
    old, new = wording_in(gb, before), wording_in(gb, after)
    return old.gb_type if old and new and old.gb_type != new.gb_type else ""


def _environment_rows(registry: Registry, lists: Lists) -> list[dict[str, Any]]:
    """One row per release, device and backend, the newest release first."""
    rows = []
    places = dict.fromkeys((one.torch, one.device) for one in reversed(registry.environments))
    for torch, device in places:
        seen = [one for one in registry.environments if (one.torch, one.device) == (torch, device)]
        for backend in _backends(registry, torch, device):
            counts = {v: lists.count(run=f"{torch} {device} {backend} {v}") for v in VERDICT_ORDER}
            rows.append(
                {
                    "torch": torch,
                    "device": device,
                    "python": ", ".join(dict.fromkeys(one.python for one in seen)),
                    "date": ", ".join(dict.fromkeys(one.date for one in seen)),
                    "backend": backend,
                    "counts": counts,
                }
            )
    return rows


def _backends(registry: Registry, torch: str, device: str) -> list[str]:
    found = {
        backend
        for gb in registry
        for seen in gb.fresh_evidence
        if (seen.environment.torch, seen.environment.device) == (torch, device)
        for backend in seen.verdicts
    }
    return sorted(found, key=lambda backend: (backend != "eager", backend))


def _findings(registry: Registry, lists: Lists) -> list[tuple[str, Count, list[tuple[GraphBreak, Finding, str]]]]:
    """By kind, most serious first; each with where its script holds."""
    found = [(gb, one, where_it_holds(one.script) if one.script else "") for gb in registry for one in gb.findings]
    grouped = ((kind, [entry for entry in found if entry[1].kind == kind]) for kind in KINDS)
    return [(kind, lists.count(finding=kind), entries) for kind, entries in grouped if entries]


def _unregistered(registry: Registry, newest: str) -> list[dict[str, str]]:
    return [
        {
            "local_id": local_id(site.gb_type),
            "gb_type": site.gb_type,
            "url": source_url(site, newest),
            "label": source_label(site),
        }
        for site in registry.unregistered
    ]


def _origin(source: str) -> str:
    release = source.removeprefix("release:")
    return source if release == source else f"the registry that torch {release} ships"
