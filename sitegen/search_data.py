"""assets/data/breaks.json: what the search box and the filters of the home page work on.

One line per id, and one per facet, so that a diff shows what changed. A break's values of a facet are a mask: a
hexadecimal number whose lowest bit stands for the first value of that facet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from registry.message_layout import BEFORE_WORDS
from registry.model import GraphBreak, OtherMessage, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.compact import compact
from sitegen.facets import FACETS, OF_RELEASES, STATUSES, Facets, facet_values, facets_of

SCHEMA = 1

Values = Mapping[str, tuple[str, ...]]


def render_search_data(registry: Registry) -> str:
    """Return the file's text."""
    values = facet_values(registry)
    titles = {
        "category": {category.key: category.title for category in (*registry.categories, UNCATEGORISED)},
        "status": STATUSES,
    }
    facets = [_line(_facet(name, values[name], titles.get(name, {}))) for name in FACETS]
    breaks = [_line(_entry(gb, values)) for gb in registry]
    messages = [_line(_message(one)) for one in registry.other_messages]
    return (
        f'{{"schema":{SCHEMA},\n"before":{compact(BEFORE_WORDS)},\n"facets":[\n'
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


def _entry(gb: GraphBreak, values: Values) -> dict[str, Any]:
    wordings = [dated.revision for dated in gb.revisions]
    hints = ("".join(hint) for dated in gb.revisions for hint in dated.hints)
    texts = (text for wording in wordings for text in (wording.explanation, wording.context))
    return {
        "id": gb.gb_id,
        "title": gb.gb_type,
        "old": _distinct((wording.gb_type for wording in wordings), besides=gb.gb_type),
        "lead": gb.repro.lead if gb.repro else None,
        "text": _distinct(texts),
        "hints": _distinct(hints),
        "program": _program(gb.repro.source) if gb.repro else None,
        "facets": _masks(facets_of(gb), values),
    }


def _message(one: OtherMessage) -> dict[str, Any]:
    """A message that is no graph break; the same fields as a break's, so that one search finds both."""
    return {"id": one.slug, "title": one.title.replace("`", ""), "lead": one.short, "text": one.forms}


def _distinct(texts: Iterable[str], besides: str = "") -> list[str]:
    """Each text once, in the order given."""
    return [text for text in dict.fromkeys(texts) if text.strip() and text != besides]


def _program(source: str) -> str:
    """What is particular to a program: its lead is told apart, and every program imports torch."""
    first, *_ = ast.parse(source).body
    is_lead = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    lines = source.splitlines()[(first.end_lineno or 0) if is_lead else 0 :]
    return "\n".join(line.rstrip() for line in lines if line.strip() not in ("", "import torch"))


def _masks(facets: Facets, values: Values) -> dict[str, str]:
    return {
        name: format(sum(1 << values[name].index(value) for value in set(found)), "x") for name, found in facets.items()
    }


def _line(entry: Mapping[str, Any]) -> str:
    """JSON on one line, without what is empty."""
    return compact({key: value for key, value in entry.items() if value})
