"""From the releases: what happened to each id, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from registry.hints import rejoin_hints
from registry.model import CallSite, DatedRevision, History, InRelease, Release, Revision


def merge_history(gb_id: str, releases: Sequence[IndexedRelease]) -> History:
    """Follow one id through all releases, oldest first."""
    reworded: list[str] = []
    meaning_changed: list[str] = []
    for before, after in pairwise(releases):
        old, new = before.newest.get(gb_id), after.newest.get(gb_id)
        if old is None or new is None or old == new:
            continue
        changed = old.gb_type != new.gb_type and _took_another_meaning(gb_id, old, new, before, after)
        (meaning_changed if changed else reworded).append(after.torch)
    return History(
        releases=tuple(
            InRelease(
                torch=release.torch,
                registered=gb_id in release.newest,
                call_sites=tuple(release.call_sites.get(gb_id, ())),
            )
            for release in releases
        ),
        reworded_in=tuple(reworded),
        meaning_changed_in=tuple(meaning_changed),
    )


def _took_another_meaning(
    gb_id: str, old: Revision, new: Revision, before: IndexedRelease, after: IndexedRelease
) -> bool:
    """A new title is a new meaning if it was, or the old one now is, another break's; else it is a rewording."""
    new_title_was_another = before.ids.get(new.gb_type, gb_id) != gb_id
    old_title_lives_on = after.ids.get(old.gb_type, gb_id) != gb_id or old.gb_type in after.emitted
    return new_title_was_another or old_title_lives_on


def merge_revisions(
    gb_id: str, upstream: Sequence[Revision], superseded: Sequence[Revision], releases: Sequence[IndexedRelease]
) -> tuple[DatedRevision, ...]:
    """Every wording ever seen, newest first: upstream's list, what releases had besides, what main once had."""
    current_in: dict[Revision, list[str]] = {}
    elsewhere: dict[Revision, None] = {}
    for release in releases:
        wordings = release.release.wordings.get(gb_id, ())
        for revision in wordings:
            elsewhere.setdefault(revision)
        if wordings:
            current_in.setdefault(wordings[0], []).append(release.torch)
    literals = {
        hint for release in releases for site in release.call_sites.get(gb_id, ()) for hint in site.joined_hints
    }
    return tuple(
        DatedRevision(
            revision=revision,
            releases=tuple(current_in.get(revision, ())),
            hints=rejoin_hints(revision.hints, literals),
        )
        for revision in dict.fromkeys([*upstream, *reversed(elsewhere), *superseded])
    )


class IndexedRelease:
    """A release with the look-ups that following 600 ids needs."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.torch = release.torch
        self.newest: Mapping[str, Revision] = {gb_id: found[0] for gb_id, found in release.wordings.items() if found}
        self.ids: Mapping[str, str] = {revision.gb_type: gb_id for gb_id, revision in self.newest.items()}
        self.emitted = frozenset(site.gb_type for site in release.call_sites)
        self.call_sites: dict[str, list[CallSite]] = {}
        for site in release.call_sites:
            if site.gb_id is not None:
                self.call_sites.setdefault(site.gb_id, []).append(site)
