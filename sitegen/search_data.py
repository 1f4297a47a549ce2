"""assets/data/breaks.js: what the search box and the filters of the home page work on.

One line per id, and one per facet, so that a diff shows what changed. A break's values of a facet are a mask: a
hexadecimal number whose lowest bit stands for the first value of that facet. What is only searched, and never shown,
is a list of its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from registry.advice import Advice
from registry.message_layout import BEFORE_WORDS
from registry.model import GraphBreak, OtherMessage, Registry
from registry.searched import searched_texts, words_of
from registry.taxonomy import UNCATEGORISED
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show, own_message
from sitegen.compact import compact
from sitegen.facets import FACETS, OF_RELEASES, STATUSES, Facets, facet_values, facets_of, statuses

SCHEMA = 2

Values = Mapping[str, tuple[str, ...]]


def render_search_data(registry: Registry, advice: Mapping[str, Advice]) -> str:
    """Return the file's text."""
    values = facet_values(registry)
    kinds = (*registry.categories, UNCATEGORISED)
    releases = choices(registry)
    titles = {"category": {kind.key: kind.title for kind in kinds}, "status": STATUSES}
    facets = [_line(_facet(name, values[name], titles.get(name, {}))) for name in FACETS]
    breaks = [_line({**_entry(gb, advice[gb.gb_id], values), "statuses": statuses(gb, releases)}) for gb in registry]
    messages = [_line(_message(one)) for one in registry.other_messages]
    return (
        f'{{"schema":{SCHEMA},\n"before":{compact(BEFORE_WORDS)},\n"kinds":'
        + compact({kind.key: f"{kind.title} {kind.why} {kind.way_out}" for kind in kinds})
        + f',\n"releases":{compact(releases)}'
        + ',\n"facets":[\n'
        + ",\n".join(facets)
        + '\n],\n"breaks":[\n'
        + ",\n".join(breaks)
        + '\n],\n"messages":[\n'
        + ",\n".join(messages)
        + "\n]}\n"
    )


def _facet(name: str, values: tuple[str, ...], titles: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "words": FACETS[name],
        "ordered": name in OF_RELEASES or None,
        "values": values,
        "titles": [titles[value] for value in values] if titles else None,
    }


def _entry(gb: GraphBreak, advice: Advice, values: Values) -> dict[str, Any]:
    searched = searched_texts(gb, _printed(gb))
    return {
        "id": gb.gb_id,
        "title": gb.gb_type,
        "old": searched.old,
        "lead": advice.lead,
        "fix": advice.fixes[0].when if advice.fixes else None,
        "alias": gb.aliases,
        "calls": searched.calls,
        "more": searched.more,
        "uses": searched.uses,
        "says": searched.says,
        "rank": searched.rank,
        "facets": _masks(facets_of(gb), values),
    }


def _printed(gb: GraphBreak) -> Iterator[str]:
    """What torch printed of it, without what it quotes of the registry's own program."""
    for one in gb.programs:
        if shown := evidence_to_show(one):
            printed = own_message(gb, shown.message)
            yield from (printed.context, printed.explanation)


def _message(one: OtherMessage) -> dict[str, Any]:
    """A message that is no graph break; the same fields as a break's, so that one search finds both."""
    says = words_of([*one.forms, one.meaning, *one.ways_out])
    return {"id": one.slug, "title": one.title.replace("`", ""), "lead": one.short, "says": says, "rank": 2}


def _masks(facets: Facets, values: Values) -> dict[str, str]:
    return {
        name: format(sum(1 << values[name].index(value) for value in set(found)), "x") for name, found in facets.items()
    }


def _line(entry: Mapping[str, Any]) -> str:
    """JSON on one line, without what is empty."""
    return compact({key: value for key, value in entry.items() if value})
