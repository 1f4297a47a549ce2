"""The plain-text twin of a page: Markdown that reads well in a terminal, and to a language model."""

from __future__ import annotations

import re
from typing import Any

import jinja2

from registry.model import Category, DatedRevision, GraphBreak, Registry
from registry.snippets import Programs, note_on_where
from registry.taxonomy import UNCATEGORISED
from sitegen.api_links import printed_link, text_file
from sitegen.captured import evidence_to_show
from sitegen.changes import changes_in
from sitegen.facets import STATUSES
from sitegen.links import source_label, source_url
from sitegen.programs import how_often
from sitegen.reach import neighbour_sentence, reach_sentence
from sitegen.release_table import upgrade_sentence


def render_twins(registry: Registry, programs: Programs, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    template = environment.get_template("twin.md.txt.j2")
    categories = {category.key: category for category in (*registry.categories, UNCATEGORISED)}
    return {
        text_file(gb): template.render(
            **_context(gb, categories[gb.category], programs), upgrade=upgrade_sentence(gb, registry.environments)
        )
        for gb in registry
    }


def one_line(text: str) -> str:
    """A heading and an item of a list are one line each."""
    return " ".join(text.split())


def fence(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text: nothing in it means anything."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def _context(gb: GraphBreak, category: Category, programs: Programs) -> dict[str, Any]:
    return {
        "gb": gb,
        "title": one_line(gb.gb_type),
        "status": STATUSES[gb.status],
        "category": category,
        "printed_link": printed_link(gb),
        "program": programs.get(gb.gb_id),
        "reach": reach_sentence(gb, gb.programs[0]) if gb.programs else "",
        "neighbour": neighbour_sentence(gb, gb.programs[0]) if gb.programs else "",
        "programs": programs,
        "on_where": note_on_where(programs[one.repro.name] for one in gb.programs),
        "captured": evidence_to_show(gb),
        "releases": _releases(gb),
        "note": "\n".join(gb.note.text.splitlines()).strip("\n") if gb.note else "",
        "wordings": [(dated.releases, _wording(dated)) for dated in gb.revisions],
        "fence": fence,
        "how_often": how_often,
        "one_line": one_line,
    }


def _wording(dated: DatedRevision) -> str:
    """One wording, every character of it; what is empty is left out."""
    revision = dated.revision
    parts = [("Type", revision.gb_type), ("Context", revision.context), ("Explanation", revision.explanation)]
    parts += [("Hint", "".join(fragments)) for fragments in dated.hints]
    return "\n".join(f"{label}: {text}" for label, text in parts if text.strip())


def _releases(gb: GraphBreak) -> list[dict[str, Any]]:
    """Newest first, from the first release that knew the id."""
    return [
        {
            "torch": seen.torch,
            "standing": _standing(seen.registered, seen.live),
            "changes": ", ".join(changes_in(gb.history, seen.torch)),
            "sites": [f"{source_label(site)} {source_url(site, seen.torch)}" for site in seen.call_sites],
        }
        for seen in reversed(gb.history.since_known)
    ]


def _standing(registered: bool, live: bool) -> str:
    if registered:
        return "registered, emitted" if live else "registered, not emitted"
    return "not registered, emitted" if live else "not registered"
