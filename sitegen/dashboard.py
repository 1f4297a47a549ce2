"""The dashboard: every number counts a list that the home page can show, and links to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from registry.findings import KINDS
from registry.ids import local_id
from registry.model import Category, Finding, GraphBreak, Registry
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key
from sitegen.break_cost import break_costs
from sitegen.charts import Series, bars_chart, columns_chart, lines_chart
from sitegen.counts import Count, Lists
from sitegen.facets import STATUSES
from sitegen.links import source_label, source_url
from sitegen.programs import most_seen, program_rows
from sitegen.release_changes import wording_in
from sitegen.templating import FirstUses

GAPS = ("context", "explanation", "hints")
VERDICT_ORDER = ("verified", "reproduced", "stopped", "other id", "not applicable", "failed")


def dashboard_context(registry: Registry) -> dict[str, Any]:
    """Everything `dashboard.md.j2` shows."""
    lists = Lists(registry)
    newest = registry.releases[-1] if registry.releases else ""
    releases = [_release_row(lists, torch, registry.built.get(torch, "")) for torch in registry.releases]
    categories = [_category_row(lists, category, newest) for category in used_categories(registry)]
    funnel = _funnel(registry, lists)
    return {
        "registry": registry,
        "newest": newest,
        "origin": _origin(registry.origin.source),
        "tiles": _tiles(lists, newest),
        "statuses": STATUSES,
        "funnel": funnel,
        "releases": list(reversed(releases)),
        "categories": categories,
        "charts": _charts(releases, categories, funnel),
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
        "uses": FirstUses(registry.glossary),
    }


def used_categories(registry: Registry) -> list[Category]:
    """Those that have an id, in the order of the taxonomy."""
    return [c for c in (*registry.categories, UNCATEGORISED) if registry.in_category(c.key)]


@dataclass(frozen=True, slots=True)
class Reference:
    """The release and device whose evidence covers most ids: what the funnel counts for."""

    torch: str
    device: str

    def run(self, *verdicts: str) -> str:
        """The value of the facet `run` for any of these verdicts under eager."""
        return ",".join(f"{self.torch} {self.device} eager {verdict}" for verdict in verdicts)


def reference_of(registry: Registry, lists: Lists) -> Reference | None:
    """None as long as nothing has been run with a release that the registry knows."""
    places = {Reference(one.torch, one.device) for one in registry.environments if one.torch in registry.releases}

    def covered(place: Reference) -> tuple[Any, ...]:
        count = lists.count(live=place.torch, run=place.run("verified", "reproduced"))
        return count.number, version_key(place.torch), place.device

    return max(places, key=covered, default=None)


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


def _funnel(registry: Registry, lists: Lists) -> dict[str, Any] | None:
    place = reference_of(registry, lists)
    if place is None:
        return None
    steps = {
        "Registered": lists.count(registered=place.torch),
        "Emitted: its source reports it": lists.count(live=place.torch),
        "Reproduced: a program causes it": lists.count(live=place.torch, run=place.run("verified", "reproduced")),
        "Verified: a fix works, too": lists.count(live=place.torch, run=place.run("verified")),
    }
    return {
        "torch": place.torch,
        "device": place.device,
        "steps": steps,
        "not_run": lists.count(live=place.torch, status="not-run"),
        "unreached": lists.count(live=place.torch, status="unreached"),
        "open": lists.count(live=place.torch, status="open"),
    }


def _release_row(lists: Lists, torch: str, built: str) -> dict[str, Any]:
    facets = ("registered", "live", "new", "reworded", "meaning", "retired")
    return {"torch": torch, "built": built, **{facet: lists.count(**{facet: torch}) for facet in facets}}


def _category_row(lists: Lists, category: Category, newest: str) -> dict[str, Any]:
    return {
        "category": category,
        "total": lists.count(category=category.key),
        "live": lists.count(category=category.key, live=newest),
        "by_status": {status: lists.count(category=category.key, status=status) for status in STATUSES},
        "notes": lists.count(category=category.key, note="yes"),
        "gaps": lists.count(category=category.key, gap=",".join(GAPS)),
    }


def _charts(
    releases: list[dict[str, Any]], categories: list[dict[str, Any]], funnel: dict[str, Any] | None
) -> dict[str, str]:
    charts = {
        "categories": bars_chart(
            "Ids by kind and status",
            {row["category"].title: row["by_status"] for row in categories},
            {status: name.lower() for status, name in STATUSES.items()},
        )
    }
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
    if funnel:
        steps = {label: {"step": count} for label, count in funnel["steps"].items()}
        charts["funnel"] = bars_chart(f"From registered to verified, torch {funnel['torch']}", steps, {"step": ""})
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


def _findings(registry: Registry, lists: Lists) -> list[tuple[str, Count, list[tuple[GraphBreak, Finding]]]]:
    """By kind, most serious first."""
    found = [(gb, one) for gb in registry for one in gb.findings]
    grouped = ((kind, [(gb, one) for gb, one in found if one.kind == kind]) for kind in KINDS)
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
