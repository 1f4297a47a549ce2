"""assets/data/breaks.js: what the search box and the filters of the home page work on.

One line per id, and one per facet, so that a diff shows what changed. A break's values of a facet are a mask: a
hexadecimal number whose lowest bit stands for the first value of that facet. What is only searched, and never shown,
is a list of its words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from registry.advice import Advice
from registry.message_layout import BEFORE_WORDS
from registry.model import GraphBreak, OtherMessage, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show, own_message
from sitegen.compact import compact
from sitegen.facets import FACETS, OF_RELEASES, STATUSES, Facets, facet_values, facets_of, statuses

SCHEMA = 2

Values = Mapping[str, tuple[str, ...]]

_WORD = re.compile(r"\w+")
_OF_FIXES = ("fixed", "isolated", "CONFIG", "FLAGS")
_EVERY_PROGRAM = frozenset({"torch", "inputs", "broken", "fixed", "compile"})


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
    wordings = [dated.revision for dated in gb.revisions]
    hints = ("".join(hint) for dated in gb.revisions for hint in dated.hints)
    texts = [*(text for wording in wordings for text in (wording.explanation, wording.context)), *hints]
    others = [one.repro for one in gb.programs[1:]]
    return {
        "id": gb.gb_id,
        "title": gb.gb_type,
        "old": _distinct((wording.gb_type for wording in wordings), besides=gb.gb_type),
        "lead": advice.lead,
        "fix": advice.fixes[0].when if advice.fixes else None,
        "alias": gb.aliases,
        "calls": _words(_names(gb, of_fixes=False)),
        "more": _words([*(one.lead for one in others), *(one.title for one in others)]),
        "uses": _words(_names(gb, of_fixes=True)),
        "says": _words([*texts, *_printed(gb)]),
        "rank": _rank(gb),
        "facets": _masks(facets_of(gb), values),
    }


def _printed(gb: GraphBreak) -> Iterator[str]:
    """What torch printed of it, without what it quotes of the registry's own program."""
    for one in gb.programs:
        if shown := evidence_to_show(one):
            printed = own_message(gb, shown.message)
            yield from (printed.context, printed.explanation)


def _names(gb: GraphBreak, *, of_fixes: bool) -> Iterator[str]:
    """What the programs of an id use by name: in their fixes and settings, or in what breaks.

    Classes and constants of a program are left out: they have many names, and few of them tell what breaks.
    """
    statements = (node for one in gb.programs for node in ast.parse(one.repro.source).body)
    for statement in statements:
        defined = getattr(statement, "name", "") or "".join(map(ast.unparse, getattr(statement, "targets", ())))
        if of_fixes:
            wanted = defined.startswith(_OF_FIXES)
        else:
            wanted = defined.islower() and not defined.startswith(("inputs", *_OF_FIXES))
        if wanted:
            yield from (name for node in ast.walk(statement) for name in _named_by(node))


def _named_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [name]
        case ast.Dict(keys=keys):
            return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return []


def _words(texts: Iterable[str]) -> str:
    """Each word of the texts once, in the order given."""
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    return " ".join(word for word in words if len(word) > 1 and word not in _EVERY_PROGRAM)


def _rank(gb: GraphBreak) -> int:
    """How likely it is that somebody meets it: 3 in a real program, 2 from public code, 1 otherwise, 0 retired."""
    if gb.lifecycle not in ("live", "local"):
        return 0
    if gb.sightings:
        return 3
    return 2 if any(one.repro.reach == "public" for one in gb.programs) else 1


def _message(one: OtherMessage) -> dict[str, Any]:
    """A message that is no graph break; the same fields as a break's, so that one search finds both."""
    says = _words([*one.forms, one.meaning, *one.ways_out])
    return {"id": one.slug, "title": one.title.replace("`", ""), "lead": one.short, "says": says, "rank": 2}


def _distinct(texts: Iterable[str], besides: str = "") -> list[str]:
    """Each text once, in the order given."""
    return [text for text in dict.fromkeys(texts) if text.strip() and text != besides]


def _masks(facets: Facets, values: Values) -> dict[str, str]:
    return {
        name: format(sum(1 << values[name].index(value) for value in set(found)), "x") for name, found in facets.items()
    }


def _line(entry: Mapping[str, Any]) -> str:
    """JSON on one line, without what is empty."""
    return compact({key: value for key, value in entry.items() if value})
