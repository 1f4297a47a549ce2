"""All that naming goes by, apart from the release: the wordings of every id as templates, their lines, the forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.forms import FormTemplate, make_form_templates
from registry.model import GraphBreak, Registry, Revision
from registry.templates import Kind, Template, collapse, fixed_words, make_template
from registry.versions import version_key

FIXED_WORDS = 4
"""A single line needs as many outside of placeholders to be looked up."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One template and the ids that have it, likeliest first."""

    template: Template
    kind: Kind
    gb_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What Matcher and the paste box name with."""

    gb_ids: tuple[str, ...]
    """Live ids before dead ones, then the newest first."""
    wordings: tuple[Wording, ...]
    silent: Mapping[Kind, frozenset[str]]
    """Per kind, the ids that have a wording that says nothing."""
    unregistered: frozenset[str]
    """Types that torch has but gives no id."""
    lines: tuple[Wording, ...]
    """Lines of explanations, contexts and hints that can be looked up by themselves."""
    forms: tuple[FormTemplate, ...]
    surfaces: Mapping[str, int]
    """Messages that only wrap others -> how far outside they are."""
    warnings: frozenset[str]
    """Messages after which the program goes on: they cause no error."""
    frames: Mapping[str, str]
    """A part of a path -> the message for a traceback that ends there; the longest first."""


def collect_vocabulary(registry: Registry) -> Vocabulary:
    """Take every distinct template of every wording, old ones too, with its ids."""
    standing = {gb.gb_id: _standing(gb) for gb in registry}
    owners: dict[tuple[Kind, Template], dict[str, tuple[object, ...]]] = {}
    silent: dict[Kind, set[str]] = {"type": set(), "explanation": set(), "context": set()}
    for gb in registry:
        dead, *newness = standing[gb.gb_id]
        newest = dict(_texts(gb.newest))
        for kind, text in dict.fromkeys(text for dated in gb.revisions for text in _texts(dated.revision)):
            template = make_template(text, kind)
            if template is None:
                silent[kind].add(gb.gb_id)
            else:
                outdated = text != newest[kind]
                owners.setdefault((kind, template), {}).setdefault(gb.gb_id, (dead, outdated, *newness))
    return Vocabulary(
        gb_ids=tuple(sorted(standing, key=standing.__getitem__)),
        wordings=tuple(
            Wording(template, kind, tuple(sorted(claims, key=claims.__getitem__)))
            for (kind, template), claims in owners.items()
        ),
        silent={kind: frozenset(gb_ids) for kind, gb_ids in silent.items()},
        unregistered=frozenset(collapse(site.gb_type) for site in registry.unregistered),
        lines=tuple(_collect_lines(registry)),
        forms=make_form_templates(registry.forms),
        surfaces={one.slug: one.surface for one in registry.other_messages if one.surface},
        frames=dict(sorted(_frames(registry), key=lambda pair: -len(pair[0]))),
        warnings=frozenset(one.slug for one in registry.other_messages if one.is_warning),
    )


def _collect_lines(registry: Registry) -> Iterator[Wording]:
    """Every line of every wording that has enough fixed words, with all its ids."""
    owners: dict[Template, dict[str, None]] = {}
    for gb in registry:
        for dated in gb.revisions:
            texts = (dated.revision.explanation, dated.revision.context, *map("".join, dated.hints))
            for line in (line for text in texts for line in text.splitlines()):
                template = make_template(line, "explanation")
                if template and fixed_words(line) >= FIXED_WORDS:
                    owners.setdefault(template, {}).setdefault(gb.gb_id)
    for template, gb_ids in owners.items():
        yield Wording(template, "line", tuple(gb_ids))


def _frames(registry: Registry) -> Iterator[tuple[str, str]]:
    return ((part, one.slug) for one in registry.other_messages for part in one.frames)


def _texts(revision: Revision) -> tuple[tuple[Kind, str], ...]:
    return ("type", revision.gb_type), ("explanation", revision.explanation), ("context", revision.context)


def _standing(gb: GraphBreak) -> tuple[object, ...]:
    """Sorts live ids before dead ones, then the newest first."""
    first = version_key(gb.history.first_release or "")
    return gb.lifecycle not in {"live", "local"}, tuple(-part for part in first), gb.gb_id
