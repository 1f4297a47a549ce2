"""The kinds of breaks: a card for each, and a page with its breaks and what usually helps."""

from __future__ import annotations

from typing import Any

import jinja2

from registry.model import Category, GraphBreak, Registry
from registry.snippets import Program, Programs, Snippet
from sitegen.break_page import samples
from sitegen.by_release import choices
from sitegen.counts import Lists
from sitegen.dashboard import used_categories
from sitegen.facets import STATUSES
from sitegen.learn import lessons_about
from sitegen.sentences import first_sentence
from sitegen.templating import FirstUses

KINDS = {"rewrite": "Rewrite the code", "flag": "Set a flag", "custom op": "Make it a custom operator"}
"""Kind of a fix -> its name on the site."""


def render_categories(registry: Registry, programs: Programs, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    lists = Lists(registry)
    pages = [_context(registry, programs, category, lists) for category in used_categories(registry)]
    template = environment.get_template("category.md.j2")
    index = environment.get_template("categories.md.j2").render(kinds=pages)
    newest = registry.releases[-1] if registry.releases else ""
    kinds = [{**page, "example": _example(page["breaks"], programs)} for page in pages]
    return {
        "categories.md": index,
        "taxonomy.md": environment.get_template("taxonomy.md.j2").render(
            kinds=kinds,
            newest=newest,
            everything={
                "ids": sum(page["total"].number for page in pages),
                "live": sum(page["live"].number for page in pages),
                "programs": sum(page["programs"] for page in pages),
                "verified": sum(page["coverage"][0]["by_status"]["verified"].number for page in pages),
            },
        ),
        **{f"categories/{page['category'].key}.md": template.render(page, statuses=STATUSES) for page in pages},
    }


def _context(registry: Registry, programs: Programs, category: Category, lists: Lists) -> dict[str, Any]:
    """Everything `category.md.j2` shows, and a card of `categories.md.j2`."""
    breaks = registry.in_category(category.key)
    fixes = {gb.gb_id: held_fixes(gb, programs.get(gb.gb_id)) for gb in breaks}
    releases = choices(registry)
    return {
        "category": category,
        "first_sentence": first_sentence(category.why),
        "total": lists.count(category=category.key),
        "live": lists.count(category=category.key, live=releases[0]),
        "with_fix": lists.count(category=category.key, fix="any"),
        "releases": releases,
        "coverage": [
            {
                "torch": torch,
                "by_status": {one: lists.count(torch, category=category.key, status=one) for one in STATUSES},
            }
            for torch in releases
        ],
        "by_fix": [(name, lists.count(category=category.key, fix=kind)) for kind, name in KINDS.items()],
        "flags": _flags(breaks, fixes),
        "programs": sum(gb.repro is not None for gb in breaks),
        "breaks": [(gb, fixes[gb.gb_id]) for gb in breaks],
        "kinds_of_fix": KINDS,
        "lessons": lessons_about(registry, category.key),
        "uses": FirstUses(registry.glossary, "../"),
    }


def _example(breaks: list[tuple[GraphBreak, tuple[Snippet, ...]]], programs: Programs) -> dict[str, Any] | None:
    """The break of a kind that most programs of other people hit, of those whose first fix holds; then the shortest."""
    proven = [gb for gb, held in breaks if held and held[0].name == programs[gb.gb_id].fixes[0].name]
    if not proven:
        return None
    seen = {gb.gb_id: len({one.name for one in gb.sightings}) for gb in proven}
    best = min(proven, key=lambda gb: (-seen[gb.gb_id], len(programs[gb.gb_id].broken.lines), gb.gb_id))
    return {"gb": best, **samples(best, best.programs[0], programs)}


def held_fixes(gb: GraphBreak, program: Program | None) -> tuple[Snippet, ...]:
    """The fixes that held where the program, as it is now, was verified, in any release; in the order of the file."""
    verified = (seen for seen in gb.fresh_evidence if seen.verdict == "verified")
    held = {name for seen in verified for name, holds in seen.fixes.items() if holds}
    return tuple(fix for fix in program.fixes if fix.name in held) if program else ()


def _flags(breaks: tuple[GraphBreak, ...], fixes: dict[str, tuple[Snippet, ...]]) -> list[tuple[str, list[GraphBreak]]]:
    """Each setting with the breaks that it lifts, the most useful first."""
    lifts: dict[str, list[GraphBreak]] = {}
    for gb in breaks:
        for fix in fixes[gb.gb_id]:
            for setting in fix.settings.splitlines():
                lifts.setdefault(setting, []).append(gb)
    return sorted(lifts.items(), key=lambda flag: (-len(flag[1]), flag[0]))
