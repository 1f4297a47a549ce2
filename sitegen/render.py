"""Registry -> {path under docs/: text}. Pure: nothing here writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2

from registry.errors import InvalidInput, Problem
from registry.model import CallSite, Category, GraphBreak, History, InRelease, Note, Registry
from registry.notes import EMPTY_NOTE, END, START, seal
from registry.pages import page_file
from registry.taxonomy import UNCATEGORISED
from sitegen.dashboard import dashboard_context
from sitegen.escape import prose, verbatim
from sitegen.links import page_link, page_permalink, source_label, source_url

_REACH = {
    "config": "It needs a setting that is not the default.",
    "private": "It goes through private parts of torch; ordinary code seldom gets here.",
    "bytecode": "It needs hand-made bytecode or changed internals; no ordinary code gets here.",
}


def render_site(registry: Registry, templates: Path) -> dict[str, str]:
    """Return {path under docs/: text} for every generated file; write nothing."""
    try:
        return _render_all(registry, _environment(templates))
    except jinja2.TemplateError as error:
        where = f"templates/{getattr(error, 'name', None) or '*.j2'}:{getattr(error, 'lineno', None) or 1}"
        reason = "not there" if isinstance(error, jinja2.TemplateNotFound) else error.message
        raise InvalidInput([Problem(where, f"{reason}; `git checkout templates` brings it back")]) from error


def _render_all(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    categories = {category.key: category for category in (*registry.categories, UNCATEGORISED)}
    template = environment.get_template("graph_break.md.j2")
    pages = {f"gb/{page_file(gb.gb_id)}": _render_break(template, gb, categories[gb.category]) for gb in registry}
    pages["index.md"] = environment.get_template("index.md.j2").render(registry=registry)
    pages["dashboard.md"] = environment.get_template("dashboard.md.j2").render(dashboard_context(registry))
    return pages


def _environment(templates: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=False,  # Markdown, HTML and Liquid at once: `verbatim` is the escape, on every value
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "verbatim": verbatim,
        "prose": prose,
        "quoted": _quoted,
        "releases": _releases,
        "page_link": page_link,
    }
    return environment


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's strings are a subset."""
    return json.dumps(text, ensure_ascii=False)


def _releases(releases: Sequence[str]) -> str:
    """The summary of an earlier wording: where it was current."""
    if not releases:
        return "In no release as the newest wording"
    return f"torch {releases[0]}" if len(releases) == 1 else f"torch {releases[0]} to {releases[-1]}"


def _render_break(template: jinja2.Template, gb: GraphBreak, category: Category) -> str:
    note = gb.note if gb.note is not None else Note(text=EMPTY_NOTE, written_for=gb.gb_type)
    page = template.render(
        gb=gb,
        category=category,
        category_link=f"../dashboard.html#{category.key}",
        description=_description(gb),
        permalink=page_permalink(gb),
        standing=_standing(gb),
        program=_fenced(gb.repro.source) if gb.repro else "",
        reach=_REACH.get(gb.repro.reach, "") if gb.repro else "",
        rows=_release_rows(gb),
        earlier=gb.revisions[1:],
        note_is_older=bool(note) and note.written_for != gb.gb_type,
        start_marker=START,
        end_marker=END,
    )
    return seal(page, note)


def _description(gb: GraphBreak) -> str:
    text = gb.repro.lead if gb.repro else gb.newest.explanation or gb.gb_type
    return " ".join(text.split())[:200]


def _standing(gb: GraphBreak) -> str:
    """One line on where the id stands, for the top of the page."""
    history = gb.history
    if gb.local:
        return "Captured here; upstream has no id for it."
    since = f"Registered since torch {history.first_release}" if history.first_release else ""
    if not gb.registered:
        return f"{since or 'Never in a release'}. Dropped: upstream's registry no longer has this id."
    if not since:
        return "New upstream; not in any release yet."
    if history.live:
        return f"{since}; torch {history.releases[-1].torch} emits it."
    if history.retired_in:
        return f"{since}. Retired: torch {history.retired_in} no longer emits it."
    return f"{since}. Retired: no release's source emits it."


def _fenced(source: str) -> str:
    """A Python code block whose fence is longer than any in the code."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{source.rstrip()}\n{fence}"


def _release_rows(gb: GraphBreak) -> list[dict[str, Any]]:
    """Newest release first, from the first release that knew the id."""
    known = [seen for seen in gb.history.releases if seen.registered or seen.live]
    if not known:
        return []
    since = gb.history.releases.index(known[0])
    return [_release_row(gb, seen) for seen in reversed(gb.history.releases[since:])]


def _release_row(gb: GraphBreak, seen: InRelease) -> dict[str, Any]:
    return {
        "torch": seen.torch,
        "registered": seen.registered,
        "sites": [_site(site, seen.torch) for site in seen.call_sites],
        "change": ", ".join(_changes(gb.history, seen.torch)),
    }


def _changes(history: History, torch: str) -> Iterator[str]:
    if torch == history.first_release:
        yield "new"
    if torch in history.reworded_in:
        yield "reworded"
    if torch in history.meaning_changed_in:
        yield "meaning changed"
    if torch == history.retired_in:
        yield "no longer emitted"


def _site(site: CallSite, torch: str) -> dict[str, str]:
    return {"url": source_url(site, torch), "label": source_label(site), "function": site.function}
