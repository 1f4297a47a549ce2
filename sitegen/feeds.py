"""What readers of feeds, and language models, find the registry by: feed.xml and llms.txt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jinja2

from registry.model import GraphBreak, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.api_links import BASE, text_file
from sitegen.changes import CHANGES, changes_in
from sitegen.facets import list_link
from sitegen.markdown import one_line

FEED_ID = "tag:meta-pytorch.github.io,2025:compile-graph-break-site"
"""Names the feed for ever, also when the site moves."""

LONGEST = 200

_TITLES = {
    "new": "New in torch {torch}: {breaks}",
    "meaning changed": "New meaning since torch {torch}: {breaks}",
    "reworded": "Reworded in torch {torch}: {breaks}",
    "retired": "No longer emitted by torch {torch}: {breaks}",
}
_FACETS = {"new": "new", "meaning changed": "meaning", "reworded": "reworded", "retired": "retired"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One piece of news: one kind of change in one release, so that no release drowns the others."""

    id: str
    title: str
    day: str
    link: str
    breaks: tuple[GraphBreak, ...]


def render_feed(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    entries = entries_of(registry)[:LONGEST]
    updated = max((entry.day for entry in entries), default=registry.origin.retrieved)
    template = environment.get_template("feed.xml.j2")
    text = template.render(base=BASE, id=FEED_ID, updated=updated, entries=entries, readable=_readable)
    return {"feed.xml": text}


def entries_of(registry: Registry) -> list[Entry]:
    """Newest release first, before all of them what is in no release yet."""
    return [*_unreleased(registry), *_released(registry)]


def _unreleased(registry: Registry) -> Iterator[Entry]:
    found = tuple(gb for gb in registry if gb.registered and not gb.local and gb.history.first_release is None)
    if found:
        # Another set is other news; the same set, pulled again, is not.
        which = hashlib.sha256(" ".join(gb.gb_id for gb in found).encode()).hexdigest()[:12]
        yield Entry(
            id=f"{FEED_ID}/unreleased/{which}",
            title=f"In PyTorch, but in no torch release yet: {_how_many(found)}",
            day=registry.origin.retrieved,
            link="index.html",
            breaks=found,
        )


def _released(registry: Registry) -> Iterator[Entry]:
    for torch in reversed(registry.releases):
        changed: dict[str, list[GraphBreak]] = {change: [] for change in CHANGES}
        for gb in registry:
            for change in changes_in(gb.history, torch):
                changed[change].append(gb)
        for change, found in changed.items():
            if found:
                yield Entry(
                    id=f"{FEED_ID}/torch-{torch}/{_FACETS[change]}",
                    title=_TITLES[change].format(torch=torch, breaks=_how_many(found)),
                    day=registry.built.get(torch) or registry.origin.retrieved,
                    link=list_link(**{_FACETS[change]: torch}),
                    breaks=tuple(found),
                )


def _how_many(found: Sequence[GraphBreak]) -> str:
    return "1 graph break" if len(found) == 1 else f"{len(found)} graph breaks"


def _readable(text: str) -> str:
    """XML has no way to write some characters, not even as a number."""
    return _NOT_XML.sub("\ufffd", text)


def render_llms(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    past = [gb for gb in registry if gb.lifecycle in ("retired", "dropped")]
    gone = {gb.gb_id for gb in past}
    sections = [
        (category, [gb for gb in registry.in_category(category.key) if gb.gb_id not in gone])
        for category in (*registry.categories, UNCATEGORISED)
    ]
    template = environment.get_template("llms.txt.j2")
    text = template.render(
        base=BASE,
        sections=[(category, found) for category, found in sections if found],
        past=past,
        newest=registry.releases[-1] if registry.releases else "",
        count=len(registry),
        plain=_plain,
        text_file=text_file,
    )
    return {"llms.txt": text}


def _plain(text: str) -> str:
    """One line of plain text that Liquid gives back as it is."""
    return one_line(text).replace("{", '{{ "{" }}')
