"""docs/_data/registry.json: what the layouts know of all pages, so that a page holds keys and the words stand once."""

from __future__ import annotations

import json

from registry.model import Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.by_release import choices
from sitegen.facets import STATUSES, statuses


def render_layout_data(registry: Registry) -> str:
    """Return the text of the file."""
    releases = choices(registry)
    data = {
        "releases": releases,
        "statuses": STATUSES,
        "kinds": {category.key: category.title for category in (*registry.categories, UNCATEGORISED)},
        "by_release": {gb.gb_id: statuses(gb, releases) for gb in registry},
        "titles": {gb.gb_id: gb.gb_type for gb in registry},
        "programs": {
            one.repro.name: one.repro.title or gb.gb_id for gb in registry for one in gb.programs if gb.examples
        },
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
