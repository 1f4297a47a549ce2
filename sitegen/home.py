"""The home page: the plain list, and the controls of its search box and filters."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import jinja2

from registry.model import Category, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.counts import Lists
from sitegen.facets import STATUSES, facet_values, list_link
from sitegen.search_data import render_search_data

_COMMON_KINDS = 4


def render_home(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    return {
        "index.md": environment.get_template("index.md.j2").render(home_context(registry)),
        "assets/data/breaks.json": render_search_data(registry),
    }


def home_context(registry: Registry) -> dict[str, Any]:
    """Everything `index.md.j2` shows."""
    values = facet_values(registry)
    categories = {category.key: category for category in (*registry.categories, UNCATEGORISED)}
    return {
        "registry": registry,
        "kinds": [categories[key] for key in values["category"]],
        "statuses": STATUSES,
        "releases": registry.releases[::-1],
        "fixes": values["fix"],
        "devices": values["device"],
        "seen": Lists(registry).count(seen="any"),
        "newest": _newest(registry),
        "common": _common_kinds(registry, categories),
    }


def _newest(registry: Registry) -> dict[str, Any] | None:
    """What is new in the newest release; None if it brought nothing."""
    torch = registry.releases[-1] if registry.releases else ""
    count = sum(gb.history.first_release == torch for gb in registry)
    return {"torch": torch, "count": count, "link": list_link(new=torch)} if count else None


def _common_kinds(registry: Registry, categories: dict[str, Category]) -> list[dict[str, Any]]:
    """The kinds with most ids, by the first words of their titles: they stand in one line."""
    counted = Counter(gb.category for gb in registry).most_common(_COMMON_KINDS)
    return [
        {"title": re.split(r", | \(", categories[key].title)[0], "count": count, "link": list_link(category=key)}
        for key, count in counted
    ]
