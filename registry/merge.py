"""Everything we know -> one Registry, sorted by id. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from registry.history import IndexedRelease, merge_history, merge_revisions
from registry.ids import local_id
from registry.measured import Measurements
from registry.model import (
    CapturedProgram,
    Category,
    DatedRevision,
    Environment,
    Evidence,
    Example,
    Finding,
    Fits,
    Form,
    GraphBreak,
    Lesson,
    MessageProgram,
    Note,
    Origin,
    OtherMessage,
    Registry,
    Release,
    Repro,
    SeenBreak,
    Sighting,
    Topic,
    Unreached,
    Wordings,
)
from registry.taxonomy import UNCATEGORISED


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What was read from disk and from upstream, before it is put together."""

    wordings: Wordings
    origin: Origin
    superseded: Wordings = field(default_factory=dict)
    releases: Sequence[Release] = ()
    categories: Sequence[Category] = ()
    repros: Mapping[str, Repro] = field(default_factory=dict)
    evidence: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    captured: Sequence[CapturedProgram] = ()
    unreached: Mapping[str, Unreached] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    measurements: Measurements = field(default_factory=Measurements)
    other_messages: Sequence[OtherMessage] = ()
    forms: Sequence[Form] = ()
    message_programs: Mapping[str, MessageProgram] = field(default_factory=dict)
    lessons: tuple[Lesson, ...] = ()
    notebooks: tuple[Lesson, ...] = ()
    topics: tuple[Topic, ...] = ()
    fits: Mapping[str, Fits] = field(default_factory=dict)
    glossary: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def all_wordings(self) -> Iterable[Wordings]:
        """Every registry we have seen, newest first."""
        return (self.wordings, *(release.wordings for release in reversed(self.releases)), self.superseded)


def merge_registry(known: Knowledge, notes: Mapping[str, Note] | None = None) -> Registry:
    """Put everything together."""
    releases = [IndexedRelease(release) for release in known.releases]
    categories = {gb_id: category.key for category in known.categories for gb_id in category.ids}
    sightings, local = _merge_captured(known)
    upstream_ids = {gb_id for wordings in known.all_wordings() for gb_id in wordings}
    breaks = []
    for gb_id in sorted(upstream_ids | local.keys(), key=lambda gb_id: (gb_id in local, gb_id)):
        upstream = known.wordings.get(gb_id, ())
        revisions = merge_revisions(gb_id, upstream, known.superseded.get(gb_id, ()), releases) or local[gb_id]
        breaks.append(
            GraphBreak(
                gb_id=gb_id,
                revisions=revisions,
                history=merge_history(gb_id, releases),
                registered=bool(upstream),
                category=categories.get(gb_id, UNCATEGORISED.key),
                note=_note(notes or {}, gb_id, revisions[0].revision.gb_type),
                repro=known.repros.get(gb_id),
                evidence=known.evidence.get(gb_id, ()),
                examples=tuple(
                    Example(repro=repro, evidence=known.evidence.get(repro.name, ()))
                    for repro in known.repros.values()
                    if repro.gb_id == gb_id != repro.name
                ),
                sightings=tuple(sightings.get(gb_id, ())),
                unreached=known.unreached.get(gb_id),
                findings=tuple(one for one in known.findings if one.gb_id == gb_id),
                aliases=known.aliases.get(gb_id, ()),
            )
        )
    return Registry(
        breaks=tuple(breaks),
        categories=tuple(known.categories),
        releases=tuple(release.torch for release in releases),
        origin=known.origin,
        built={release.torch: release.built for release in known.releases if release.built},
        unregistered=tuple(s for s in known.releases[-1].call_sites if s.gb_id is None) if known.releases else (),
        environments=_environments(known.evidence),
        measurements=known.measurements,
        programs=tuple(known.captured),
        other_messages=tuple(known.other_messages),
        forms=tuple(known.forms),
        message_programs=known.message_programs,
        lessons=known.lessons,
        notebooks=known.notebooks,
        topics=known.topics,
        fits=known.fits,
        glossary=known.glossary,
    )


def _note(notes: Mapping[str, Note], gb_id: str, gb_type: str) -> Note | None:
    """An empty note was written for nothing: it goes with the wording of today."""
    note = notes.get(gb_id)
    if note is not None and (not note or not note.written_for):
        return replace(note, written_for=gb_type)
    return note


def _merge_captured(known: Knowledge) -> tuple[dict[str, list[Sighting]], dict[str, tuple[DatedRevision, ...]]]:
    """Place captured breaks: under the id that has their type, else under a local id of their own."""
    ids: dict[str, dict[str, None]] = {}
    for wordings in known.all_wordings():
        for gb_id, revisions in wordings.items():
            for revision in revisions:
                ids.setdefault(revision.gb_type, {}).setdefault(gb_id)
    sightings: dict[str, list[Sighting]] = {}
    local: dict[str, tuple[DatedRevision, ...]] = {}
    for program in known.captured:
        for seen in program.breaks:
            wording = seen.wording
            having = ids.get(wording.gb_type, {})
            # Of two ids with one type, the one that was printed; an id that meant something else then is none.
            gb_id = seen.gb_id if seen.gb_id in having else next(iter(having), local_id(wording.gb_type))
            sightings.setdefault(gb_id, []).append(_sighting(program, seen))
            if not having:
                dated = DatedRevision(revision=wording, releases=(), hints=tuple((hint,) for hint in wording.hints))
                local.setdefault(gb_id, (dated,))
    return sightings, local


def _sighting(program: CapturedProgram, seen: SeenBreak) -> Sighting:
    return Sighting(
        name=program.name,
        about=program.about,
        environment=program.environment,
        sites=seen.sites,
        compiled=seen.compiled,
        ran=seen.ran,
    )


def _environments(evidence: Mapping[str, tuple[Evidence, ...]]) -> tuple[Environment, ...]:
    found = {one.environment for records in evidence.values() for one in records}
    return tuple(sorted(found, key=lambda place: place.order))
