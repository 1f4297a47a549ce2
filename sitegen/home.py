"""The home page: the plain list, the controls of its search box and filters, and the ids for the page "not found"."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jinja2

from registry.advice import Advice
from registry.model import Category, GraphBreak, Registry
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key
from sitegen.by_release import choices
from sitegen.compact import data_script
from sitegen.counts import Lists
from sitegen.facets import STATUSES, facet_values, facets_of, list_link
from sitegen.search_data import render_search_data
from sitegen.sentences import comma_list, first_sentence

_CARDS = 6


def render_home(registry: Registry, advice: Mapping[str, Advice], environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    return {
        "index.md": environment.get_template("index.md.j2").render(home_context(registry, advice)),
        **data_script("breaks", render_search_data(registry, advice)),
        **data_script("ids", json.dumps({gb.gb_id: gb.gb_type for gb in registry}, indent=0, ensure_ascii=False)),
    }


def home_context(registry: Registry, advice: Mapping[str, Advice]) -> dict[str, Any]:
    """Everything `index.md.j2` shows."""
    values = facet_values(registry)
    kinds = {category.key: category for category in (*registry.categories, UNCATEGORISED)}
    facets = [facets_of(gb) for gb in registry]
    return {
        "registry": registry,
        "kinds": [kinds[key] for key in values["category"]],
        "statuses": STATUSES,
        "choices": choices(registry),
        "releases": registry.releases[::-1],
        "fixes": values["fix"],
        "devices": values["device"],
        "counts": {
            name: {value: sum(value in one.get(name, ()) for one in facets) for value in values[name]}
            for name in ("category", "status", "live", "fix", "note", "device")
        },
        "with_fix": sum("fix" in one for one in facets),
        "without_fix": sum("fix" not in one for one in facets),
        "without_note": sum("note" not in one for one in facets),
        "seen": Lists(registry).count(seen="any"),
        "newest": _newest(registry),
        "met": _met(registry, advice),
        "met_torch": comma_list(sorted({one.environment.torch for one in registry.programs}, key=version_key)),
        "rows": {gb.gb_id: _row(gb, advice[gb.gb_id], kinds) for gb in registry},
    }


def _newest(registry: Registry) -> dict[str, Any] | None:
    """What is new in the newest release; None if it brought nothing."""
    torch = registry.releases[-1] if registry.releases else ""
    count = sum(gb.history.first_release == torch for gb in registry)
    return {"torch": torch, "count": count, "link": list_link(new=torch)} if count else None


def _met(registry: Registry, advice: Mapping[str, Advice]) -> list[dict[str, Any]]:
    """The breaks that most of the captured programs hit, each with its first fix."""
    often = sorted((gb for gb in registry if gb.sightings), key=lambda gb: (-len(gb.sightings), gb.gb_id))
    return [
        {
            "gb": gb,
            "lead": first_sentence(advice[gb.gb_id].lead),
            "fix": advice[gb.gb_id].fixes[0].when if advice[gb.gb_id].fixes else "",
            "programs": len({sighting.name for sighting in gb.sightings}),
        }
        for gb in often[:_CARDS]
    ]


def _row(gb: GraphBreak, advice: Advice, kinds: Mapping[str, Category]) -> dict[str, str]:
    """The columns of the list besides id, title and status."""
    live = [seen.torch for seen in gb.history.releases if seen.live]
    span = " – ".join(dict.fromkeys((live[0], live[-1]))) if live else ""
    never = "never emitted" if gb.history.first_release else "in no release yet"
    return {
        "lead": first_sentence(advice.lead).replace("`", ""),
        "kind": kinds[gb.category].title,
        "releases": span or never,
    }
