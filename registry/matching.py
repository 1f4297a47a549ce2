"""From the text of a message, or of a whole log, to gb_id: for all wordings of all releases.

Three ways, strongest first: the link torch prints; the gb_type, exactly; the explanation and the context, whose
`{placeholders}` stand for any text. No placeholder is ever retried, so the time grows with the text and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from registry.message_layout import read_line, strip_markers
from registry.messages import Draft, ParsedMessage, find_drafts, split_lines, unlabelled
from registry.model import GraphBreak, Registry, Revision
from registry.releases import version_key
from registry.templates import DISTINCTIVE, Kind, Template, collapse, make_template

How = Literal["link", "type", "wording", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message, and the ids it may have: likeliest first, none when nobody knows it."""

    gb_ids: tuple[str, ...]
    how: How
    message: ParsedMessage
    line: int = 1
    """Which line of the text gives its reason or, without one, its explanation; from 1."""
    causes: tuple[Match, ...] = ()
    record: str = ""
    """In a log, the logger's header in front of it, else the rank."""
    opening: str = ""
    """In a log, the line with torch's marker: it tells what became of the break."""

    @property
    def gb_id(self) -> str | None:
        return self.gb_ids[0] if self.gb_ids else None

    @property
    def chain(self) -> tuple[Match, ...]:
        """The causes, first cause first, then this one."""
        return (*self.causes, self)


@dataclass(frozen=True, slots=True)
class Wording:
    """One template and the ids that have it, likeliest first."""

    template: Template
    kind: Kind
    gb_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All that naming goes by, apart from the release: the paste box names with the same."""

    gb_ids: tuple[str, ...]
    """Live ids before dead ones, then the newest first."""
    wordings: tuple[Wording, ...]
    silent: Mapping[Kind, frozenset[str]]
    """Per kind, the ids that have a wording that says nothing."""
    unregistered: frozenset[str]
    """Types that torch has but gives no id."""


class Matcher:
    """Names the break in a text; built once from a registry, never changed."""

    def __init__(self, registry: Registry) -> None:
        known = collect_vocabulary(registry)
        self._standing = {gb_id: rank for rank, gb_id in enumerate(known.gb_ids)}
        self._silent, self._unregistered = known.silent, known.unregistered
        self._exact: dict[tuple[Kind, str], Wording] = {}
        self._open: dict[Kind, list[Wording]] = {"type": [], "explanation": [], "context": []}
        for wording in known.wordings:
            if wording.template.exact:
                self._exact[wording.kind, wording.template.literals[0]] = wording
            else:
                self._open[wording.kind].append(wording)
        self._printed = {
            (seen.torch, site.gb_type.strip()): gb.gb_id
            for gb in registry
            for seen in gb.history.releases
            for site in seen.call_sites
        }
        self._recent: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    @classmethod
    def from_registry(cls, registry: Registry) -> Matcher:
        """Take every wording of every break, old ones too."""
        return cls(registry)

    def match_message(self, text: str, *, torch: str | None = None) -> Match | None:
        """Name one message (an exception's text, one log record); None only for a blank text.

        With the release that printed it ("2.13.0"), a type that has two ids gives first the one that release prints.
        """
        if not text.strip():
            return None
        for draft in find_drafts(split_lines(text)):
            match = self._name(draft, torch)
            return replace(match, message=replace(match.message, text=text))
        return self._name_unlabelled(text, torch)

    def find_messages(self, lines: Iterable[str], *, torch: str | None = None) -> Iterator[Match]:
        """Name every message in a log, as a stream; chained breaks come as one, with its causes."""
        for draft in find_drafts(lines):
            if match := self.name_draft(draft, torch=torch):
                yield match

    def name_draft(self, draft: Draft, *, torch: str | None = None) -> Match | None:
        """Name a message cut out of a log; None for what may be no message of torch's, and that nobody knows."""
        match = self._name(draft, torch)
        if not (draft.certain or match.gb_ids):
            return None
        return replace(match, record=draft.record, opening=draft.opening)

    def ids_of_type(self, gb_type: str, *, torch: str | None = None) -> tuple[str, ...]:
        """The ids that have, or once had, this gb_type: likeliest first."""
        gb_type = collapse(gb_type)
        gb_ids = tuple(self._matching("type", gb_type))
        printed = self._printed.get((torch.partition("+")[0], gb_type)) if torch else None
        return (printed, *(gb_id for gb_id in gb_ids if gb_id != printed)) if printed else gb_ids

    def ids_of_wording(self, explanation: str, context: str = "") -> tuple[str, ...]:
        """The ids whose explanation, and context if there is one, reads like this with its placeholders filled."""
        key = (collapse(explanation), collapse(context))
        found = self._recent.get(key)
        if found is None:
            found = self._recent[key] = self._find_wording(*key)
            if len(self._recent) > 256:
                self._recent.popitem(last=False)
        return found

    def _find_wording(self, explanation: str, context: str) -> tuple[str, ...]:
        explained = self._matching("explanation", explanation)
        in_context = self._matching("context", context)
        if any(weight >= DISTINCTIVE for weight in explained.values()):
            said_nothing = self._silent["context"]
            fitting = {gb_id for gb_id in explained if gb_id in in_context or gb_id in said_nothing} or set(explained)
            return self._sorted(fitting, lambda gb_id: (gb_id not in in_context, -explained[gb_id]))
        distinctive = {gb_id for gb_id, weight in in_context.items() if weight >= DISTINCTIVE}
        if explanation:
            # an explanation that was there, and was none of theirs, speaks against those that have a known one
            distinctive &= self._silent["explanation"] | set(explained)
        return self._sorted(distinctive, lambda gb_id: (gb_id not in explained, -in_context[gb_id]))

    def _matching(self, kind: Kind, text: str) -> dict[str, int]:
        """gb_id -> weight of the best template of that kind that fits."""
        if not text:
            return {}
        exact = self._exact.get((kind, text))
        fitting = [exact] if exact else []
        fitting += [wording for wording in self._open[kind] if wording.template.matches(text)]
        best: dict[str, int] = {}
        for wording in fitting:
            for gb_id in wording.gb_ids:
                best[gb_id] = max(best.get(gb_id, 0), wording.template.weight)
        return best

    def _sorted(self, gb_ids: Iterable[str], evidence: Callable[[str], tuple[object, ...]]) -> tuple[str, ...]:
        return tuple(sorted(gb_ids, key=lambda gb_id: (*evidence(gb_id), self._standing[gb_id])))

    def _name(self, draft: Draft, torch: str | None) -> Match:
        causes = tuple(self._name_parsed(cause, draft.line, torch) for cause in draft.message.causes)
        match = replace(self._name_parsed(draft.message, draft.line, torch), causes=causes)
        if match.how == "none" and not draft.fields:
            # "Graph Break Reason: Encountered graph break when …:", then the type, then a log that was cut off
            for text in draft.bodies:
                if gb_ids := self.ids_of_type(text, torch=torch):
                    message = replace(match.message, gb_type=text.strip())
                    return replace(match, gb_ids=gb_ids, how="type", message=message)
        return match

    def _name_parsed(self, message: ParsedMessage, line: int, torch: str | None) -> Match:
        how: How = "none"
        gb_ids: tuple[str, ...] = ()
        if message.link:
            how, gb_ids = "link", (message.link,)
        elif gb_ids := self.ids_of_type(message.gb_type, torch=torch):
            how = "type"
        elif collapse(message.gb_type) not in self._unregistered and (
            gb_ids := self.ids_of_wording(message.explanation, message.context)
        ):
            how = "wording"
        return Match(gb_ids=gb_ids, how=how, message=message, line=line)

    def _name_unlabelled(self, text: str, torch: str | None) -> Match:
        """No layout to go by: a line that is a gb_type, else the whole as an explanation or a context."""
        bodies = [read_line(line)[1] for line in split_lines(text)]
        for number, body in enumerate(bodies, 1):
            gb_type = strip_markers(body)
            if gb_ids := self.ids_of_type(gb_type, torch=torch):
                return Match(gb_ids=gb_ids, how="type", message=ParsedMessage(gb_type=gb_type, text=text), line=number)
        whole = "\n".join(bodies)
        if gb_ids := self.ids_of_wording(whole):
            return Match(gb_ids=gb_ids, how="wording", message=ParsedMessage(explanation=whole.strip(), text=text))
        if gb_ids := self.ids_of_wording("", whole):
            return Match(gb_ids=gb_ids, how="wording", message=ParsedMessage(context=whole.strip(), text=text))
        return Match(gb_ids=(), how="none", message=unlabelled(text))


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
    )


def _texts(revision: Revision) -> tuple[tuple[Kind, str], ...]:
    return ("type", revision.gb_type), ("explanation", revision.explanation), ("context", revision.context)


def _standing(gb: GraphBreak) -> tuple[object, ...]:
    """Sorts live ids before dead ones, then the newest first."""
    first = version_key(gb.history.first_release or "")
    return gb.lifecycle not in {"live", "local"}, tuple(-part for part in first), gb.gb_id
